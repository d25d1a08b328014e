// Where the benchmarks of `parley chat` run: what they start, and a folder that goes away.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../build.ts";
import type { RunOptions } from "../rounds.ts";
import { hasTerminals, type TerminalProgram } from "./terminal.ts";

const command = fileURLToPath(new URL("../../packages/cli/", import.meta.url));

export const echoPrompt = fileURLToPath(new URL("../floor/echo-prompt.mjs", import.meta.url));
export const floodAgent = fileURLToPath(new URL("../floor/flood-agent.mjs", import.meta.url));

/** Ctrl-D. */
export const leave = "\u0004";

/** `parley chat` with an agent, a program of Node; in a hurry nothing was built, and the sources are run. */
export function parleyChat({ quick }: RunOptions, agent: string): string[] {
  const main = quick
    ? ["--conditions=parley-source", join(command, "src/main.ts")]
    : [join(command, "dist/main.js")];
  return [...main, "chat", "--", process.execPath, agent];
}

export async function inFolder<Result>(
  options: RunOptions,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  if (!hasTerminals()) throw new Error("this benchmark needs the command script of util-linux");
  if (!options.quick) await build();
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-chat-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program must have ended before its folder goes away. */
export async function ending<Result>(
  terminal: TerminalProgram,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    terminal.type(leave);
    await terminal.ended;
  }
}
