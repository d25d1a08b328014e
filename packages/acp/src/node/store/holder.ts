// Who holds a session: a process, known by its pid and start time, since the system uses pids again. After
// a restart of the machine both may repeat, so the boot counts too. Where the kernel does not tell (macOS,
// Windows) a pid that is in use counts as the holder.

import { readFileSync } from "node:fs";
import { isRunning, statOf } from "../process-tree.ts";

export interface Holder {
  readonly pid: number;
  /** Boot and clock ticks since then, or "" where they are not known. */
  readonly started: string;
}

let own: Holder | undefined;

export function thisProcess(): Holder {
  own ??= { pid: process.pid, started: startOfThisProcess() };
  return own;
}

export function isSame(one: Holder, other: Holder): boolean {
  return one.pid === other.pid && one.started === other.started;
}

/** Whether the process that is meant still runs. */
export function isAlive({ pid, started }: Holder): boolean {
  if (started !== "") {
    const [boot = "", ticks = ""] = started.split("/");
    const now = bootId();
    // What cannot be read must not make a live holder dead.
    const isThisBoot = boot === now || boot === "" || now === "";
    return isThisBoot && isRunning({ pid, started: ticks });
  }
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // no such process; or one of another user, which lives
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function startOfThisProcess(): string {
  const stat = statOf("self");
  return typeof stat === "object" ? `${bootId()}/${stat.started}` : "";
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    // hidden by a sandbox, or no descriptor is left: pid and ticks have to do
    return "";
  }
}
