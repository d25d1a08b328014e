// A child process and everything it started, ended together: SIGTERM, then SIGKILL, to the whole
// group and to descendants that left it. Nothing is signalled that may not be ours: a group is only
// addressed while its leader has not been reaped, or while it has not been seen empty since then.
// A daemon that has left its group and its parent is found by the mark in its environment. Not reached: one that emptied
// its environment too; outside Linux, every descendant that left the group; on Windows, everything but the child itself.

import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import {
  descendantsOf,
  isRunning,
  markedBy,
  markedNow,
  membersOf,
  type ProcessIdentity,
  signalProcess,
} from "./process-tree.ts";
import { watchGroup } from "./watchdog.ts";

/** The kernel announces the end of our children only, so that of others has to be looked for. */
const pollMs = 20;
/** After SIGKILL. What is left then is stuck in the kernel. */
const afterKillMs = 2000;

/** As much of a child process as its group needs; a PTY has no more. */
export interface OwnedChild extends Pick<ChildProcess, "exitCode" | "signalCode"> {
  readonly pid: number;
  /** Called on Windows only, where there are no groups. */
  kill(signal?: NodeJS.Signals): unknown;
}

/** Those of which something may run. */
const living = new Set<ProcessGroup>();

/** Nothing is awaited at an exit, and the watchdog would only be later: all is ended here. */
function endAllAtExit(): void {
  for (const group of living) group.endNow();
}

export class ProcessGroup {
  readonly #child: OwnedChild;
  readonly #pid: number;
  readonly #mark: string | undefined;
  readonly #unwatch: () => void;
  readonly #escaped = new Map<number, ProcessIdentity>();
  #members: ProcessIdentity[] | undefined;
  /** The leader and its group: their number may be somebody else's by now. */
  #groupIsGone = false;

  /**
   * The child must have been started with `detached: true`, so that it leads a group of its own; `mark` is a variable
   * of its environment, made by `groupMark()`.
   */
  constructor(child: OwnedChild, mark?: string) {
    this.#child = child;
    this.#pid = child.pid;
    this.#mark = mark;
    this.#unwatch = watchGroup(child.pid);
    if (living.size === 0) process.on("exit", endAllAtExit);
    living.add(this);
  }

  /** Remembers who descends from the leader now: once it has gone, those outside the group cannot be found. */
  remember(): void {
    const roots = this.#leaderLives() ? [this.#pid] : [];
    // one that left the group may go on starting others after the leader has gone
    roots.push(...[...this.#escaped.values()].filter(isRunning).map(({ pid }) => pid));
    for (const root of roots) for (const found of descendantsOf(root)) this.#escaped.set(found.pid, found);
  }

  /** Whether nothing of it is known to run any more. Cheap; after the first true the group is never signalled again. */
  isGone(): boolean {
    for (const [pid, found] of this.#escaped) if (!isRunning(found)) this.#escaped.delete(pid);
    if (!this.#groupIsGone && !this.#leaderLives() && !this.#hasMembers()) {
      this.#groupIsGone = true;
      this.#unwatch();
    }
    if (!this.#groupIsGone || this.#escaped.size > 0) return false;
    if (living.delete(this) && living.size === 0) process.off("exit", endAllAtExit);
    return true;
  }

  /** SIGKILL, without waiting for anything: this process is leaving. */
  endNow(): void {
    this.remember();
    if (this.#mark !== undefined) this.#add(markedNow(this.#mark));
    if (!this.isGone()) this.#signal("SIGKILL");
  }

  /** SIGTERM, up to `killMs` of patience, SIGKILL. Resolves when nothing is left or nothing more can be done. */
  async terminate(killMs: number): Promise<void> {
    if (!(await this.#sweep())) return;
    this.#signal("SIGTERM");
    if ((await this.#goneWithin(killMs)) && !(await this.#sweep())) return;
    // whatever was started between a look and a signal is found by the next look
    const deadline = performance.now() + afterKillMs;
    do {
      this.#signal("SIGKILL");
      await this.#goneWithin(pollMs);
    } while ((await this.#sweep()) && performance.now() < deadline);
  }

  /** Looks for all who belong to it, wherever they went; false when there is nobody. */
  async #sweep(): Promise<boolean> {
    this.remember();
    if (this.#mark !== undefined) this.#add(await markedBy(this.#mark));
    return !this.isGone();
  }

  #add(marked: readonly ProcessIdentity[]): void {
    for (const found of marked) if (found.pid !== this.#pid) this.#escaped.set(found.pid, found);
  }

  async #goneWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    while (!this.isGone()) {
      if (performance.now() >= deadline) return false;
      await delay(pollMs);
    }
    return true;
  }

  #leaderLives(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #hasMembers(): boolean {
    if (process.platform === "win32") return false;
    try {
      process.kill(-this.#pid, 0);
    } catch {
      // ESRCH: empty. EPERM: nobody in it that we may signal (macOS says so of a group of zombies).
      return false;
    }
    // Linux counts zombies, and init may take seconds to reap an orphan: look who really runs.
    if (!this.#members?.some(isRunning)) this.#members = membersOf(this.#pid);
    return this.#members === undefined || this.#members.length > 0;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.isGone()) return;
    if (process.platform === "win32") {
      this.#child.kill(signal);
      return;
    }
    try {
      if (!this.#groupIsGone) process.kill(-this.#pid, signal);
    } catch {
      // it emptied itself since isGone(); the poll will find out
    }
    for (const found of this.#escaped.values()) signalProcess(found, signal);
  }
}
