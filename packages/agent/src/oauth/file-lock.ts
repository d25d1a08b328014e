// A lock between processes: a file with the id of its process. The lock of a process that is gone is taken over.

import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const pollMs = 25;
/** Work under a lock has its own timeouts, which are shorter. */
const longestMs = 2 * 60_000;

/** Waits until nobody else holds the lock. Rejects when the signal aborts, or when it is held for two minutes. */
export async function withFileLock<Result>(
  path: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const own = `${process.pid} ${randomUUID()}`;
  const until = performance.now() + longestMs;
  while (!taken(path, own)) {
    if (performance.now() > until)
      throw new Error(`${path} is held by another process; if no agent is running, delete it`);
    await pause(pollMs, undefined, signal && { signal });
  }
  try {
    return await work();
  } finally {
    if (holderOf(path) === own) rmSync(path, { force: true });
  }
}

/** The file appears with its content, so that nobody takes an empty one for abandoned. */
function taken(path: string, own: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, own, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // of fs
    const holder = holderOf(path);
    // if two see an abandoned lock, one of them removes it and both try again
    if (holder !== undefined && !isAlive(holder) && holderOf(path) === holder) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function holderOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // it was released
    return undefined;
  }
}

function isAlive(holder: string): boolean {
  const pid = Number.parseInt(holder, 10);
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // it belongs to somebody else
    return (error as NodeJS.ErrnoException).code === "EPERM"; // of kill
  }
}
