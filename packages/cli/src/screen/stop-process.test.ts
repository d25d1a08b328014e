import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { HeadlessTerminal } from "../../test/support/headless-terminal.ts";
import { stopProcess } from "./stop-process.ts";
import { TerminalScreen } from "./terminal-screen.ts";

class Job extends EventEmitter {
  readonly killed: unknown[] = [];

  kill(pid: number, signal: string): void {
    this.killed.push([pid, signal]);
  }
}

test("Ctrl-Z gives the terminal back to the shell, and draws again when the job goes on", async (t) => {
  const terminal = new HeadlessTerminal(40, 8);
  const screen = new TerminalScreen(terminal, {});
  t.after(() => screen.close());
  screen.print(["said before"]);
  screen.draw({ lines: ["status", "> written"], cursor: { row: 1, column: 9 } });
  screen.flush();
  const job = new Job();
  const stopped = screen.suspend(() => stopProcess(job));
  assert.deepEqual(job.killed, [[0, "SIGTSTP"]]);
  assert.deepEqual([terminal.starts, terminal.stops], [1, 1]);
  assert.deepEqual(await terminal.everything(), ["said before"]);
  terminal.write("[1]+ Stopped\r\n$ fg\r\n");
  job.emit("SIGCONT");
  await stopped;
  screen.flush();
  assert.deepEqual([terminal.starts, terminal.stops], [2, 1]);
  assert.deepEqual((await terminal.everything()).slice(-2), ["status", "> written"]);
  assert.equal(job.listenerCount("SIGCONT"), 0);
});

test("a process that the system does not stop, because nobody could continue it, goes on", async () => {
  const job = new Job();
  await stopProcess(job);
  assert.equal(job.listenerCount("SIGCONT"), 0);
});
