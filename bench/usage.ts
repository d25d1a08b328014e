// Measures the CPU time and memory of a process.

import { readFileSync } from "node:fs";

/** CPU and memory of this process since it started. */
export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number;
  readonly rssMiB: number;
  readonly peakMiB: number;
}

export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rssMiB: process.memoryUsage.rss() / 2 ** 20, peakMiB: peakMiB() };
}

/**
 * maxRSS of a spawned process starts at what its parent had when it forked; the kernel's VmHWM
 * starts at zero with the new program, so it is taken where there is one.
 */
function peakMiB(): number {
  if (process.platform === "linux") {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (peak !== undefined) return Number(peak) / 1024;
  }
  return process.resourceUsage().maxRSS / 1024;
}
