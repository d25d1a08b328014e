// Forwards entries of a session to the printer, also those that arrive after the answer.

import type { Entry } from "@parley/acp";
import type { ManagedAgent } from "@parley/client";
import { beginsWork } from "@parley/client/internal";
import { SlowReader } from "../printers/output.ts";

type Phase =
  | { readonly is: "early"; readonly entries: Entry[] }
  | { readonly is: "open"; readonly agent: ManagedAgent }
  | { readonly is: "stopping" | "over" };

export class EntryForwarder {
  readonly late = new LateUpdates();
  readonly #print: (entry: Entry) => void;
  readonly #reader = new SlowReader(process.stdout);
  #phase: Phase = { is: "early", entries: [] };

  constructor(print: (entry: Entry) => void) {
    this.#print = print;
  }

  entry(entry: Entry): void {
    const phase = this.#phase;
    if (phase.is === "over") return;
    if (phase.is === "early") {
      phase.entries.push(entry);
      return;
    }
    this.late.entry(entry);
    // while stopping, output must not pile up
    if (phase.is === "stopping" && this.#reader.isBehind) return;
    this.#print(entry);
    if (phase.is === "open") this.#reader.pauseIfBehind(phase.agent);
  }

  /** The session has started. */
  open(agent: ManagedAgent): void {
    const phase = this.#phase;
    if (phase.is !== "early") return;
    this.#phase = { is: "open", agent };
    for (const entry of phase.entries) this.#print(entry);
  }

  /** The run is ending: no more back-pressure. */
  stop(): void {
    if (this.#phase.is === "open") this.#phase = { is: "stopping" };
  }

  /** Ignores what an agent still sends after the end. */
  end(): void {
    this.#phase = { is: "over" };
  }
}

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
    if (entry.kind === "result") this.#isAnswered = true;
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
