// Pins two processes that only take turns to one core.

import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The command that keeps a process and its children on one core; empty where there is none. */
export function oneCore(): readonly string[] {
  const pin = ["--cpu-list", String(availableParallelism() - 1)];
  return spawnSync("taskset", [...pin, "true"]).status === 0 ? ["taskset", ...pin] : [];
}
