// Identifies the process that holds a session, because pids alone are reused.

import { readFileSync } from "node:fs";
import { isRunning, statOf } from "../process-tree.ts";

export interface Holder {
  readonly pid: number;
  /** Boot id and clock ticks since boot, or "" where unknown. */
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

/** Whether the process still runs. */
export function isAlive({ pid, started }: Holder): boolean {
  if (started !== "") {
    const [boot = "", ticks = ""] = started.split("/");
    const now = bootId();
    // an unreadable boot id must not make a live holder look dead
    const isThisBoot = boot === now || boot === "" || now === "";
    return isThisBoot && isRunning({ pid, started: ticks });
  }
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: a live process of another user
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
    // hidden by a sandbox, or out of descriptors
    return "";
  }
}
