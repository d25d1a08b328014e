// Polls for events that tests cannot observe otherwise: the end of foreign processes and the creation of files.

import { existsSync, readFileSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Whether the process ends within five seconds. */
export async function isGone(pid: number): Promise<boolean> {
  for (let look = 0; look < 250; look += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      // no such process
      return true;
    }
    await pause(20);
  }
  return false;
}

/** Resolves when the file exists; the test's own timeout is the limit. */
export async function fileAppears(path: string): Promise<void> {
  while (!existsSync(path)) await pause(10);
}

/** The number in a file, once it has been written. */
export async function numberIn(path: string): Promise<number> {
  while (!existsSync(path) || statSync(path).size === 0) await pause(10);
  return Number(readFileSync(path, "utf8"));
}
