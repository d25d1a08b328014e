// Hooks that are commands of the user's config: they get the call as JSON on stdin.

import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localTerminals } from "@parley/acp/node";
import { withoutKeys } from "../model/key-variables.ts";
import type { HookedCall, HookedOutcome, Hooks } from "./hooks.ts";

/** One hook of the config. */
export interface CommandHook {
  /** The tools that it is for: names with `|` between them, `*` for any text. Default: all. */
  readonly tools?: string;
  /** A command line for `sh`. */
  readonly command: string;
  /** Seconds that it may take. Default 60. */
  readonly timeout?: number;
}

/** Commands to run before and after tool calls. */
export interface CommandHooks {
  /** A command that ends with another exit code than 0 refuses the call; its output is the reason. */
  readonly beforeTool?: readonly CommandHook[];
  /** The model gets the output of each command together with the result of the call. */
  readonly afterTool?: readonly CommandHook[];
}

const defaultSeconds = 60;
/** What a hook may tell. */
const maxCharacters = 8_000;

/**
 * Returns hooks that run shell commands, which get the call as JSON on stdin.
 *
 * @example
 * import { codingAgent } from "@parley/agent";
 * import { commandHooks } from "@parley/agent/config";
 *
 * const hooks = commandHooks({ afterTool: [{ tools: "edit|write", command: "npm run --silent lint" }] });
 * await using agent = codingAgent({ hooks, version: "1.0.0" });
 */
export function commandHooks({ beforeTool = [], afterTool = [] }: CommandHooks): Hooks {
  return {
    async beforeTool(call) {
      for (const hook of beforeTool.filter((each) => isFor(each, call.name))) {
        const { exitCode, output } = await runHook(hook, "before_tool", call);
        if (exitCode !== 0) return output === "" ? `${hook.command}: exit code ${exitCode}` : output;
      }
      return undefined;
    },
    async afterTool(call, outcome) {
      const notes: string[] = [];
      for (const hook of afterTool.filter((each) => isFor(each, call.name))) {
        const { exitCode, output } = await runHook(hook, "after_tool", call, outcome);
        if (output !== "") notes.push(output);
        else if (exitCode !== 0) notes.push(`${hook.command}: exit code ${exitCode}`);
      }
      return notes.length === 0 ? undefined : notes.join("\n");
    },
  };
}

function isFor({ tools = "*" }: CommandHook, name: string): boolean {
  return tools.split("|").some((each) => {
    const [first = "", ...rest] = each.trim().split("*");
    if (rest.length === 0) return name === first;
    const last = rest.pop() ?? "";
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
      return false;
    let at = first.length;
    return rest.every((piece) => {
      const found = name.indexOf(piece, at);
      at = found + piece.length;
      return found >= 0 && at <= name.length - last.length;
    });
  });
}

/** Runs with all rights of the user, who wrote it; without the keys of model providers. */
async function runHook(
  { command, timeout = defaultSeconds }: CommandHook,
  event: "before_tool" | "after_tool",
  { name, input, title, sessionId, cwd, signal }: HookedCall,
  outcome?: HookedOutcome,
): Promise<{ readonly exitCode: number; readonly output: string }> {
  const result = outcome && {
    isError: outcome.isError,
    output: outcome.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n"),
  };
  const given = { event, tool: name, input, title, sessionId, cwd, ...(result && { result }) };
  const file = join(tmpdir(), `parley-hook-${randomUUID()}.json`);
  await writeFile(file, `${JSON.stringify(given)}\n`, { flag: "wx", mode: 0o600 });
  await using terminals = localTerminals({ cwd, env: withoutKeys });
  try {
    const line = `exec < ${quoted(file)}\n${command}`;
    const terminal = await terminals.create({ command: "sh", args: ["-c", line], signal });
    const exit = await terminal.waitForExit({ signal, timeoutMs: timeout * 1_000 });
    if ("timedOut" in exit && exit.timedOut)
      throw new Error(`${command} took more than ${timeout} s and was ended`);
    const { output } = await terminal.output();
    return { exitCode: exit.exitCode ?? 1, output: output.trim().slice(0, maxCharacters) };
  } finally {
    await rm(file, { force: true });
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
