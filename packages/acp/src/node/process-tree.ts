// Finds the descendants of a process, the members of a group and marked processes, on Linux only.

import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as immediate } from "node:timers/promises";

/** The start time is needed because pids are reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot. */
  readonly started: string;
}

/** All living children, grandchildren and so on. */
export function descendantsOf(pid: number): ProcessIdentity[] {
  if (process.platform !== "linux") return [];
  const found: ProcessIdentity[] = [];
  const seen = new Set([pid]);
  for (const parent of seen) {
    for (const child of childrenOf(parent)) {
      if (seen.has(child)) continue;
      // the iteration includes entries that are added meanwhile
      seen.add(child);
      const stat = statOf(child);
      if (stat !== undefined && stat !== "unreadable") found.push({ pid: child, started: stat.started });
    }
  }
  return found;
}

/** The running members of a process group; undefined without /proc. Reads the whole process table. */
export function membersOf(pgid: number): ProcessIdentity[] | undefined {
  const members: ProcessIdentity[] = [];
  const entries = processes();
  for (const entry of entries ?? []) {
    const stat = statOf(entry);
    if (stat === "unreadable") return undefined;
    if (stat?.pgid === pgid) members.push({ pid: Number(entry), started: stat.started });
  }
  return entries && members;
}

/** How many processes are read per turn of the event loop; each takes 40 µs. */
const slice = 32;

/** The processes that have this variable in their environment. Reads the whole process table, in slices. */
export async function markedBy(mark: string): Promise<ProcessIdentity[]> {
  const found: ProcessIdentity[] = [];
  for (const [at, entry] of (processes() ?? []).entries()) {
    if (at % slice === slice - 1) await immediate();
    const marked = ifMarked(entry, mark);
    if (marked !== undefined) found.push(marked);
  }
  return found;
}

/** The same, synchronously, for the exit of this process. */
export function markedNow(mark: string): ProcessIdentity[] {
  return (processes() ?? []).flatMap((entry) => ifMarked(entry, mark) ?? []);
}

function ifMarked(entry: string, mark: string): ProcessIdentity | undefined {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${entry}/environ`, "latin1");
  } catch {
    // exited, or of another user
    return undefined;
  }
  if (!environment.startsWith(`${mark}=`) && !environment.includes(`\0${mark}=`)) return undefined;
  const stat = statOf(entry);
  if (stat === undefined || stat === "unreadable") return undefined;
  return { pid: Number(entry), started: stat.started };
}

/** The pids of all processes; undefined without /proc. */
function processes(): string[] | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  } catch {
    // no /proc, or out of descriptors
    return undefined;
  }
}

/** Whether exactly this process still runs; a zombie does not. */
export function isRunning(target: ProcessIdentity): boolean {
  const stat = statOf(target.pid);
  // one that cannot be read is assumed to run
  return stat === "unreadable" || stat?.started === target.started;
}

/** Signals exactly this process, or none. */
export function signalProcess(target: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(target)) return;
  try {
    process.kill(target.pid, signal);
  } catch {
    // it has exited or changed its user meanwhile
  }
}

function childrenOf(pid: number): number[] {
  const children: number[] = [];
  try {
    // children are listed by thread
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
      for (const child of list.split(" ")) if (child.trim() !== "") children.push(Number(child));
    }
  } catch {
    // exited, or a kernel without CONFIG_PROC_CHILDREN
  }
  return children;
}

/** undefined for a missing process and for a zombie. */
export function statOf(
  pid: number | string,
): { readonly pgid: number; readonly started: string } | "unreadable" | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // after the name, which is in parentheses and may contain anything: state, parent, group, and later the start
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const started = fields[19];
    if (fields[0] === "Z" || fields[0] === "X" || started === undefined) return undefined;
    return { pgid: Number(fields[2]), started };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESRCH" ? undefined : "unreadable";
  }
}
