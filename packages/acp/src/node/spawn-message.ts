// What to tell a person whose agent did not start, or went away.

import { existsSync } from "node:fs";
import { argumentText } from "../jsonrpc/argument.ts";
import type { ProcessExit, SpawnOptions } from "./spawn.ts";

/** Throws for what no system can start; everything else is the system's own answer. */
export function checkCommand(command: string, args: readonly string[]): void {
  const words: unknown = args;
  if (typeof command !== "string")
    throw new TypeError(`the agent's command must be a program name or a path, got ${argumentText(command)}`);
  if (!Array.isArray(words) || words.some((word) => typeof word !== "string")) {
    const got = Array.isArray(words) ? words.find((word) => typeof word !== "string") : words;
    // one line with spaces was meant for a shell
    const [program, ...rest] = command.split(/\s+/u).map((word) => JSON.stringify(word));
    throw new TypeError(
      `the agent's arguments must be a list of strings, got ${argumentText(got)}; there is no shell: ` +
        `give ${program}, [${rest.join(", ")}]`,
    );
  }
  if (command === "") throw new TypeError("the agent's command is empty; give a program name or a path");
  const bad = [command, ...args].findIndex((word) => word.includes("\0"));
  if (bad < 0) return;
  throw new TypeError(
    `${bad === 0 ? "the agent's command" : `argument ${bad} of the agent`} contains a NUL character`,
  );
}

export function spawnFailure(command: string, options: SpawnOptions, error: NodeJS.ErrnoException): string {
  return `could not start ${JSON.stringify(command)}: ${explain(command, options.cwd, error)}`;
}

function explain(command: string, cwd: string | undefined, error: NodeJS.ErrnoException): string {
  if (cwd !== undefined && !existsSync(cwd)) return `its working directory ${cwd} does not exist`;
  const isPath = command.includes("/");
  if (error.code === "ENOENT" && !isPath) {
    return "there is no such command on PATH; install it, or give the full path";
  }
  if (error.code === "ENOENT") {
    return existsSync(command)
      ? "the interpreter named in its first line does not exist; install it, or start the file through another one"
      : "there is no such file; check the path, or install it";
  }
  if (error.code === "EACCES") {
    return "it is not executable; chmod +x it, or start it through its interpreter (node, python)";
  }
  if (error.code === "E2BIG") return "its arguments and environment are too long; pass large input in a file";
  return error.message;
}

export function exitMessage(command: string, status: ProcessExit): string {
  if (status.signal !== undefined) return `${command} was ended by ${status.signal}`;
  return `${command} exited with code ${status.exitCode ?? "unknown"}`;
}
