// Polls for the end of processes that are not our children, and for files that others write.

import { existsSync, readFileSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Whether the process is gone, or goes within five seconds. */
export async function isGone(pid: number): Promise<boolean> {
  for (let look = 0; look < 250; look += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      // no such process, which is the answer
      return true;
    }
    await pause(20);
  }
  return false;
}

/** Resolves when the file is there; the test's own timeout is the limit. */
export async function fileAppears(path: string): Promise<void> {
  while (!existsSync(path)) await pause(10);
}

/** The number in a file, as soon as somebody has written it. */
export async function numberIn(path: string): Promise<number> {
  while (!existsSync(path) || statSync(path).size === 0) await pause(10);
  return Number(readFileSync(path, "utf8"));
}
