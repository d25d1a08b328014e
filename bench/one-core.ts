// Where two processes only take turns, a scheduler that spreads them over two cores makes each turn pay
// for waking a sleeping core: 100 µs instead of 40 on a virtual machine, and now the one, now the other.

import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The command that keeps a process and its children on one core; empty where there is none. */
export function oneCore(): readonly string[] {
  const pin = ["--cpu-list", String(availableParallelism() - 1)];
  return spawnSync("taskset", [...pin, "true"]).status === 0 ? ["taskset", ...pin] : [];
}
