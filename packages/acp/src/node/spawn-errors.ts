// Error messages for agents that do not start or that exit.

import { existsSync } from "node:fs";
import { optional } from "../base/objects.ts";
import { argumentText } from "../jsonrpc/argument.ts";
import type { ProcessExit } from "./spawn.ts";

/** Throws a TypeError for a command that no system can start. */
export function checkCommand(command: string, args: readonly string[]): void {
  const words: unknown = args;
  if (typeof command !== "string")
    throw new TypeError(`the agent's command must be a program name or a path, got ${argumentText(command)}`);
  if (!Array.isArray(words) || words.some((word) => typeof word !== "string")) {
    const got = Array.isArray(words) ? words.find((word) => typeof word !== "string") : words;
    // a command with spaces was probably meant for a shell
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

export function spawnFailure(command: string, cwd: string | undefined, error: NodeJS.ErrnoException): string {
  return `could not start ${JSON.stringify(command)}: ${explain(command, cwd, error)}`;
}

/** From the arguments of a child's "exit" event. */
export function processExit(code: number | null, signal: string | null): ProcessExit {
  return optional({ exitCode: code ?? undefined, signal: signal ?? undefined });
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
