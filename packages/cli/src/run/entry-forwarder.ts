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

/** Agents of version 1 may answer before their last updates, and many of them exit at once when their input ends. */
export class LateUpdates {
  #hasOutput = false;
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
    if (entry.kind !== "update" || !beginsWork(entry.update)) return;
    // thoughts are not an answer
    if (!entry.update.sessionUpdate.startsWith("agent_thought")) this.#hasOutput = true;
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
