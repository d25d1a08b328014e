// Some agents answer a prompt before they have said all. Whether more is to be expected can be seen from what was said; an
// agent that has said all is not waited for.

import type { Entry } from "@parley/acp";
import { beginsWork } from "@parley/client";

/** An agent that said nothing may take so long to say something after all. */
const firstWordMs = 1_000;
/** So long nothing may come where more is to be expected. */
const silenceMs = 300;
/** A turn that took long may have a tail: so much of its time is waited, and never more than a silence. */
const share = 1 / 20;
/** Who goes on for so long is at work again, and not at the end of what was asked. */
const longestMs = 2_000;

const ended: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

export interface LateUpdatesOptions {
  /** How long the turn took. */
  readonly turnMs: number;
  /** How long this agent is known to go on. */
  readonly lateMs?: number | undefined;
  /** Waits no longer. */
  readonly signal: AbortSignal;
}

export class LateUpdates {
  /** By call: whether it is open. */
  readonly #calls = new Map<string, boolean>();
  #hasSpoken = false;
  #isBrokenOff = false;
  #isAnswered = false;
  #wasLate = false;
  #wake: () => void = () => undefined;

  /** Whether anything was said or done that a user sees as an answer. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** What was said so far is no answer. */
  begin(): void {
    this.#hasSpoken = false;
  }

  entry(entry: Entry): void {
    if (entry.kind === "prompt") this.#isAnswered = this.#wasLate = false;
    if (entry.kind === "outcome") this.#isAnswered = true;
    if (entry.kind !== "update" || !beginsWork(entry.update)) return;
    const { update } = entry;
    if (update.sessionUpdate === "tool_call_update") {
      if (update.status != null || !this.#calls.has(update.toolCallId))
        this.#calls.set(update.toolCallId, !ended.has(update.status));
    }
    if (update.sessionUpdate === "agent_message_chunk")
      this.#isBrokenOff = update.content.type === "text" && /[ \t]$/.test(String(update.content.text));
    // who only thought has not said anything
    if (!update.sessionUpdate.startsWith("agent_thought")) this.#hasSpoken = true;
    this.#wasLate ||= this.#isAnswered;
    this.#wake();
  }

  /** Resolves when the agent has answered and nothing more is to be expected. */
  async heard({ turnMs, lateMs = 0, signal }: LateUpdatesOptions): Promise<void> {
    const latest = performance.now() + longestMs;
    const least = Math.max(lateMs, Math.min(silenceMs, turnMs * share));
    while (!signal.aborted && performance.now() < latest) {
      if (!(await this.#next(this.#patience(least), signal))) return;
    }
  }

  #patience(least: number): number {
    if (!this.#hasSpoken) return firstWordMs;
    const isOpen = [...this.#calls.values()].includes(true);
    return isOpen || this.#isBrokenOff || this.#wasLate ? Math.max(least, silenceMs) : least;
  }

  /** Whether something came within that time. */
  #next(ms: number, signal: AbortSignal): Promise<boolean> {
    // less than a turn of the loop is no wait
    if (ms < 1) return Promise.resolve(false);
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
