// Ends a child process with everything that it started, including descendants that left its process group.

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
import { watchAfterExit, watchGroup } from "./watchdog.ts";

/** The kernel reports the exit of our own children only, so others are polled. */
const pollMs = 20;
/** How often the processes are looked for while each that is found exits at once. */
const maxSweeps = 50;
/** How long to wait after SIGKILL. */
const afterKillMs = 2000;

/** The parts of a child process that its group needs; a PTY has them too. */
export interface OwnedChild extends Pick<ChildProcess, "exitCode" | "signalCode"> {
  readonly pid: number;
  /** Called on Windows only, which has no process groups. */
  kill(signal?: NodeJS.Signals): unknown;
}

export function hasPid<Child extends ChildProcess>(child: Child): child is Child & { readonly pid: number } {
  return child.pid !== undefined;
}

/** Groups that may have running processes. */
const living = new Set<ProcessGroup>();

/** Ends all groups when this process exits, sooner than the watchdog. */
function endAllAtExit(): void {
  for (const group of living) group.endNow();
}

/**
 * A group is signalled only while its leader has not been reaped, or has not been seen empty since, because its number
 * may be reused. Not reached: daemons that cleared their environment; outside Linux, descendants that left the group;
 * on Windows, everything but the child itself.
 */
export class ProcessGroup {
  readonly #child: OwnedChild;
  readonly #pid: number;
  readonly #mark: string | undefined;
  readonly #unwatch: () => void;
  readonly #escaped = new Map<number, ProcessIdentity>();
  #members: ProcessIdentity[] | undefined;
  /** Whether the group's number may have been reused. */
  #groupIsGone = false;

  /**
   * The child must have been started with `detached: true`, so that it leads a group. `mark` is a variable in its
   * environment, from `groupMark()`.
   */
  constructor(child: OwnedChild, mark?: string) {
    this.#child = child;
    this.#pid = child.pid;
    this.#mark = mark;
    this.#unwatch = watchGroup(child.pid);
    if (living.size === 0) process.on("exit", endAllAtExit);
    living.add(this);
  }

  /** Records the leader's descendants: those outside the group cannot be found after it has exited. */
  remember(): void {
    const roots = this.#leaderLives() ? [this.#pid] : [];
    // descendants outside the group may start others
    roots.push(...[...this.#escaped.values()].filter(isRunning).map(({ pid }) => pid));
    for (const root of roots) for (const found of descendantsOf(root)) this.#escaped.set(found.pid, found);
  }

  /** Whether no known process of it runs. Cheap. After the first `true` the group is never signalled again. */
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

  /** Sends SIGKILL without waiting, when this process exits. */
  endNow(): void {
    this.remember();
    if (this.#mark !== undefined) this.#add(markedNow(this.#mark));
    if (!this.isGone()) this.#signal("SIGKILL");
  }

  /** Lets the processes outlive this one for so long; the watchdog then ends them. False if nobody would. */
  leave(ms: number): boolean {
    if (!watchAfterExit(ms)) return false;
    if (living.delete(this) && living.size === 0) process.off("exit", endAllAtExit);
    return true;
  }

  /** Sends one signal to all processes of it, and does not wait for what they do. */
  async send(signal: NodeJS.Signals): Promise<void> {
    if (await this.#sweep()) this.#signal(signal);
  }

  /** Sends SIGTERM, waits up to `killMs`, sends SIGKILL. Resolves when nothing is left or nothing more can be done. */
  async terminate(killMs: number): Promise<void> {
    if (!(await this.#sweep())) return;
    this.#signal("SIGTERM");
    if ((await this.#goneWithin(killMs)) && !(await this.#sweep())) return;
    // repeated, because a process may start another one before the signal arrives
    const deadline = performance.now() + afterKillMs;
    do {
      this.#signal("SIGKILL");
      await this.#goneWithin(pollMs);
    } while ((await this.#sweep()) && performance.now() < deadline);
  }

  /** Finds all processes of the group, wherever they are; false when there are none. */
  async #sweep(): Promise<boolean> {
    for (let round = 0; round < maxSweeps; round += 1) {
      this.remember();
      const marked = this.#mark === undefined ? [] : await markedBy(this.#mark);
      this.#add(marked);
      if (!this.isGone()) return true;
      // one that was found and has exited since may have started another
      if (marked.length === 0) return false;
    }
    return false;
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
      // ESRCH: empty. EPERM: no member that we may signal (on macOS also a group of zombies).
      return false;
    }
    // Linux counts zombies, which init may take seconds to reap.
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
      // all members exited since isGone()
    }
    for (const found of this.#escaped.values()) signalProcess(found, signal);
  }
}
