// Waits for updates that some agents send after they have answered the prompt, if more are likely.

import type { Entry } from "@parley/acp";
import { beginsWork } from "@parley/client";

/** How long to wait for an agent without any output. */
const firstOutputMs = 1_000;
/** How long to wait if more is likely. */
const silenceMs = 300;
/** After a long turn, this share of its time is waited, up to `silenceMs`. */
const share = 1 / 20;
/** An agent that continues longer has begun new work. */
const longestMs = 2_000;

const ended: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

export interface LateUpdatesOptions {
  /** How long the turn took. */
  readonly turnMs: number;
  /** How long updates of this agent are known to be late. */
  readonly lateMs?: number | undefined;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

export class LateUpdates {
  /** Whether each tool call is open. */
  readonly #calls = new Map<string, boolean>();
  #hasOutput = false;
  #endsMidSentence = false;
  #isAnswered = false;
  #wasLate = false;
  #wake: () => void = () => undefined;

  /** Whether the agent sent anything that a user sees as an answer. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  /** A new prompt begins. */
  begin(): void {
    this.#hasOutput = false;
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
      this.#endsMidSentence = update.content.type === "text" && /[ \t]$/.test(String(update.content.text));
    // thoughts are not an answer
    if (!update.sessionUpdate.startsWith("agent_thought")) this.#hasOutput = true;
    this.#wasLate ||= this.#isAnswered;
    this.#wake();
  }

  /** Resolves when no more updates are likely. */
  async settled({ turnMs, lateMs = 0, signal }: LateUpdatesOptions): Promise<void> {
    const latest = performance.now() + longestMs;
    const least = Math.max(lateMs, Math.min(silenceMs, turnMs * share));
    while (!signal.aborted && performance.now() < latest) {
      if (!(await this.#next(this.#waitMs(least), signal))) return;
    }
  }

  #waitMs(least: number): number {
    if (!this.#hasOutput) return firstOutputMs;
    const isOpen = [...this.#calls.values()].includes(true);
    return isOpen || this.#endsMidSentence || this.#wasLate ? Math.max(least, silenceMs) : least;
  }

  /** Whether an update came within that time. */
  #next(ms: number, signal: AbortSignal): Promise<boolean> {
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
