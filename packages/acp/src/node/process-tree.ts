// Finds the descendants of a process, the members of a group and marked processes, on Linux only.

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay, setImmediate as immediate } from "node:timers/promises";

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

/** How often new processes are looked for. Each round takes as long as there are new ones. */
const maxRounds = 120;
/**
 * A process that executes another program has no environment for a moment, longer on a busy machine: so often, and after
 * so long, it is read again. One that has arguments has probably cleared its environment, and is read less often.
 */
const maxLooks = 100;
const maxLooksWithArguments = 5;
const lookAgainMs = 4;

/** The processes that have this variable in their environment. Reads the whole process table, in slices. */
export async function markedBy(mark: string): Promise<ProcessIdentity[]> {
  const search = new MarkSearch(mark);
  for (let round = 0; round < maxRounds; round += 1) {
    const entries = search.entries();
    if (entries.length === 0) break;
    for (const [at, entry] of entries.entries()) {
      if (at % slice === slice - 1) await immediate();
      search.look(entry);
    }
    if (search.waits) await delay(lookAgainMs);
  }
  return search.found;
}

/** The same, synchronously, for the exit of this process. */
export function markedNow(mark: string): ProcessIdentity[] {
  const search = new MarkSearch(mark);
  for (let round = 0; round < maxRounds; round += 1) {
    const entries = search.entries();
    if (entries.length === 0) break;
    for (const entry of entries) search.look(entry);
  }
  return search.found;
}

/** A process may exit before it is looked at and leave a child that was not listed yet, so new ones are looked for. */
class MarkSearch {
  readonly found: ProcessIdentity[] = [];
  readonly #mark: string;
  readonly #seen = new Set<string>();
  readonly #looks = new Map<string, number>();

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** Whether all that is left are processes without an environment. */
  get waits(): boolean {
    return this.#looks.size > 0;
  }

  /** The processes that have not been looked at. */
  entries(): string[] {
    return (processes() ?? []).filter((entry) => !this.#seen.has(entry));
  }

  look(entry: string): void {
    const marked = ifMarked(entry, this.#mark);
    const looks = (this.#looks.get(entry) ?? 0) + 1;
    if (looks < (marked === "empty" ? maxLooks : marked === "cleared" ? maxLooksWithArguments : 0)) {
      this.#looks.set(entry, looks);
      return;
    }
    this.#looks.delete(entry);
    this.#seen.add(entry);
    if (typeof marked === "object") this.found.push(marked);
  }
}

function ifMarked(entry: string, mark: string): ProcessIdentity | "empty" | "cleared" | undefined {
  let environment: string;
  let words: string;
  try {
    words = readFileSync(`/proc/${entry}/cmdline`, "latin1");
    environment = readFileSync(`/proc/${entry}/environ`, "latin1");
  } catch {
    // exited, or of another user
    return undefined;
  }
  if (environment === "") {
    if (!isNew(entry)) return undefined;
    return words === "" ? "empty" : "cleared";
  }
  if (!environment.startsWith(`${mark}=`) && !environment.includes(`\0${mark}=`)) return undefined;
  const stat = statOf(entry);
  if (stat === undefined || stat === "unreadable") return undefined;
  return { pid: Number(entry), started: stat.started };
}

/** Whether it is a program that began after this process, as all that we started did. */
function isNew(entry: string): boolean {
  const [stat, own] = [statOf(entry), statOf(process.pid)];
  if (typeof stat !== "object" || typeof own !== "object" || stat.isKernelThread) return false;
  return Number(stat.started) >= Number(own.started);
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

/** From linux/sched.h. */
const kernelThread = 0x00200000;

interface ProcessStat {
  readonly pgid: number;
  readonly started: string;
  readonly isKernelThread: boolean;
}

/** undefined for a missing process and for a zombie. */
export function statOf(pid: number | string): ProcessStat | "unreadable" | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // after the name, which is in parentheses and may contain anything: state, parent, group, and later flags and the start
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const started = fields[19];
    if (fields[0] === "Z" || fields[0] === "X" || started === undefined) return undefined;
    return { pgid: Number(fields[2]), started, isKernelThread: (Number(fields[6]) & kernelThread) !== 0 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESRCH" ? undefined : "unreadable";
  }
}
