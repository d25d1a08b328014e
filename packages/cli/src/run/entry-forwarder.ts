// What of a session reaches the printer, and when: nothing before the session is announced, nothing after the end.

import type { Entry } from "@parley/acp";
import type { LiveAgent } from "@parley/client";
import { SlowReader } from "../printers/output.ts";
import { LateUpdates } from "./late-updates.ts";

type Phase =
  | { readonly is: "early"; readonly entries: Entry[] }
  | { readonly is: "open"; readonly agent: LiveAgent }
  | { readonly is: "stopping" | "over" };

export class EntryForwarder {
  readonly words = new LateUpdates();
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
    this.words.entry(entry);
    // what comes when it is to stop is not waited for, and must not pile up
    if (phase.is === "stopping" && this.#reader.isBehind) return;
    this.#print(entry);
    if (phase.is === "open") this.#reader.holdBack(phase.agent);
  }

  /** The session has been announced. */
  open(agent: LiveAgent): void {
    const phase = this.#phase;
    if (phase.is !== "early") return;
    this.#phase = { is: "open", agent };
    for (const entry of phase.entries) this.#print(entry);
  }

  /** The run is to end: nobody is waited for any more. */
  stop(): void {
    if (this.#phase.is === "open") this.#phase = { is: "stopping" };
  }

  /** An agent that was ended may still be heard; the end has been told then. */
  end(): void {
    this.#phase = { is: "over" };
  }
}
