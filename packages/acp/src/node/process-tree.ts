// Who descends from a process, on Linux: children that left the process group with setsid are found
// by their parent while it lives. A pid alone is no identity, since the system reuses it; with its
// start time it is one. Elsewhere every answer is empty: macOS would need a `ps` for each question.

import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as immediate } from "node:timers/promises";

export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since boot, as the kernel writes it. */
  readonly started: string;
}

/** All children, grandchildren and so on that are alive now. Costs a few file reads per process of the tree. */
export function descendantsOf(pid: number): ProcessIdentity[] {
  if (process.platform !== "linux") return [];
  const found: ProcessIdentity[] = [];
  const seen = new Set([pid]);
  for (const parent of seen) {
    for (const child of childrenOf(parent)) {
      if (seen.has(child)) continue;
      // A Set that grows during iteration is walked to its end.
      seen.add(child);
      const stat = statOf(child);
      if (stat !== undefined && stat !== "unreadable") found.push({ pid: child, started: stat.started });
    }
  }
  return found;
}

/** Who runs in a process group now, wherever its members come from. Reads the whole process table; undefined where there is none. */
export function membersOf(pgid: number): ProcessIdentity[] | undefined {
  if (process.platform !== "linux") return undefined;
  const members: ProcessIdentity[] = [];
  try {
    for (const entry of readdirSync("/proc")) {
      const stat = /^\d+$/.test(entry) ? statOf(entry) : undefined;
      if (stat === "unreadable") return undefined;
      if (stat?.pgid === pgid) members.push({ pid: Number(entry), started: stat.started });
    }
  } catch {
    // no /proc, or no descriptor left to read it with: nothing can be said about who runs
    return undefined;
  }
  return members;
}

/** How many processes are looked at before others may work: 40 µs each. */
const slice = 32;

/** Who has the variable in its environment, of those whom we may look at. Reads the whole process table, in slices. */
export async function markedBy(mark: string): Promise<ProcessIdentity[]> {
  const found: ProcessIdentity[] = [];
  for (const [at, entry] of processes().entries()) {
    if (at % slice === slice - 1) await immediate();
    const marked = ifMarked(entry, mark);
    if (marked !== undefined) found.push(marked);
  }
  return found;
}

/** The same at once, for a process that is leaving. */
export function markedNow(mark: string): ProcessIdentity[] {
  return processes().flatMap((entry) => ifMarked(entry, mark) ?? []);
}

function ifMarked(entry: string, mark: string): ProcessIdentity | undefined {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${entry}/environ`, "latin1");
  } catch {
    // gone, or somebody else's
    return undefined;
  }
  if (!environment.startsWith(`${mark}=`) && !environment.includes(`\0${mark}=`)) return undefined;
  const stat = statOf(entry);
  if (stat === undefined || stat === "unreadable") return undefined;
  return { pid: Number(entry), started: stat.started };
}

function processes(): string[] {
  if (process.platform !== "linux") return [];
  try {
    return readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  } catch {
    // no /proc, or no descriptor left to read it with
    return [];
  }
}

/** Whether this very process still runs; a zombie does not. */
export function isRunning(target: ProcessIdentity): boolean {
  const stat = statOf(target.pid);
  // what cannot be looked at is taken to run: it must not be forgotten
  return stat === "unreadable" || stat?.started === target.started;
}

/** Signals this very process, or nobody. */
export function signalProcess(target: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(target)) return;
  try {
    process.kill(target.pid, signal);
  } catch {
    // it went away between the two lines, or changed its user: nothing is left to do
  }
}

function childrenOf(pid: number): number[] {
  const children: number[] = [];
  try {
    // A child belongs to the thread that forked it.
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
      for (const child of list.split(" ")) if (child.trim() !== "") children.push(Number(child));
    }
  } catch {
    // the process or the thread has gone, or the kernel was built without CONFIG_PROC_CHILDREN
  }
  return children;
}

/** undefined when there is no such process, or when it is a zombie that waits for its parent. */
function statOf(
  pid: number | string,
): { readonly pgid: number; readonly started: string } | "unreadable" | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in parentheses, may hold anything. After it: state, parent, group, and 17 fields on the start time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const started = fields[19];
    if (fields[0] === "Z" || fields[0] === "X" || started === undefined) return undefined;
    return { pgid: Number(fields[2]), started };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESRCH" ? undefined : "unreadable";
  }
}
