// Runs a process that uses a store and reports its progress on stdout.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";

export interface StoreProcess {
  readonly pid: number;
  /** The complete lines so far. */
  lines(): string[];
  /** Resolves when so many lines have come, or the process has ended. */
  atLeast(count: number): Promise<void>;
  say(line: string): void;
  kill(): void;
  /** The exit code, or the signal. */
  readonly ended: Promise<number | string>;
}

const flags = [
  "--disable-warning=ExperimentalWarning",
  "--conditions=parley-source",
  "--input-type=module",
  "-e",
];

/** Runs the code with `path`, `sqliteStore`, the samples, and `say` in reach; `wrapper` is a command that runs another. */
export function storeProcess(path: string, code: string, wrapper: readonly string[] = []): StoreProcess {
  const source = `
    import { writeSync } from "node:fs";
    import { sqliteStore } from ${JSON.stringify(import.meta.resolve("../../src/node/store/sqlite-store.ts"))};
    import * as samples from ${JSON.stringify(import.meta.resolve("../../src/testing/contracts/store-samples.ts"))};
    import { claimedSessions } from ${JSON.stringify(import.meta.resolve("./claimed-sessions.ts"))};
    const { promptAt, promptsFrom, recordOf, collect } = samples;
    const path = ${JSON.stringify(path)};
    const say = (line) => writeSync(1, line + "\\n");
    ${code}
  `;
  const [command = "", ...args] = [...wrapper, process.execPath, ...flags, source];
  return watched(spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] }));
}

function watched(child: ChildProcess): StoreProcess {
  const ended = Promise.withResolvers<number | string>();
  let progress = Promise.withResolvers<void>();
  let text = "";
  let isOver = false;
  const step = (): void => {
    progress.resolve();
    progress = Promise.withResolvers();
  };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    step();
  });
  child.on("close", (exitCode, signal) => {
    isOver = true;
    ended.resolve(exitCode ?? signal ?? "");
    step();
  });
  const lines = (): string[] => text.split("\n").slice(0, -1);
  assert.ok(child.pid !== undefined, "it has been started");
  return {
    pid: child.pid,
    lines,
    async atLeast(count) {
      while (!isOver && lines().length < count) await progress.promise;
    },
    say: (line) => child.stdin?.write(`${line}\n`),
    kill: () => child.kill("SIGKILL"),
    ended: ended.promise,
  };
}
