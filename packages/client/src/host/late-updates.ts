// Waits for updates that an agent sends after its answer.

import type { Entry } from "@parley/acp";
import { beginsWork } from "../history/begins-work.ts";

/** How long an agent that has said nothing yet may take, and the longest wait of all. */
const longestMs = 1_000;
/** An agent that is silent for so long has said everything. */
const silenceMs = 300;

export interface LateUpdatesOptions {
  /** How long updates of this agent are known to be late. */
  readonly lateMs?: number | undefined;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Agents may end a turn before their last updates, and many of them exit at once when their input ends. */
export class LateUpdates {
  #hasOutput = false;
  #isOver = false;
  #hasLate = false;
  #wake: () => void = () => undefined;

  /** Whether the agent sent anything that a user sees as an answer. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  /** Whether anything came after the end of a turn. */
  get hasLate(): boolean {
    return this.#hasLate;
  }

  /** A new prompt begins. */
  begin(): void {
    this.#hasOutput = false;
    this.#isOver = false;
  }

  entry(entry: Entry): void {
    if (entry.kind !== "update") return;
    const { update } = entry;
    if (update.sessionUpdate === "state_update" && update.state === "idle") this.#isOver = true;
    if (!beginsWork(update)) return;
    if (this.#isOver) this.#hasLate = true;
    // thoughts are not an answer
    if (!update.sessionUpdate.startsWith("agent_thought")) this.#hasOutput = true;
    this.#wake();
  }

  /** Resolves when no more updates are likely. */
  async settled({ lateMs = 0, signal }: LateUpdatesOptions): Promise<void> {
    const latest = performance.now() + longestMs;
    const quietMs = Math.max(lateMs, silenceMs);
    for (;;) {
      const leftMs = latest - performance.now();
      if (signal.aborted || leftMs <= 0) return;
      if (!(await this.#next(this.#hasOutput ? Math.min(quietMs, leftMs) : leftMs, signal))) return;
    }
  }

  /** Whether an update came within that time. */
  #next(ms: number, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    const abort = () => resolve(false);
    signal.addEventListener("abort", abort, { once: true });
    this.#wake = () => resolve(true);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      this.#wake = () => undefined;
    });
  }
}
