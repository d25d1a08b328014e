// Forwards entries of a session to the printer, also those that arrive after the answer.

import type { Entry, SessionUpdate } from "@parley/acp";
import type { ManagedAgent } from "@parley/client";
import { LateUpdates } from "@parley/client/host";
import { SlowReader } from "../printers/output.ts";

type Phase =
  | { readonly is: "early"; readonly entries: Entry[] }
  | { readonly is: "open"; readonly agent: ManagedAgent }
  | { readonly is: "stopping" | "over" };

export class EntryForwarder {
  readonly late = new LateUpdates();
  readonly #print: (entry: Entry) => void;
  readonly #isOthers: (update: SessionUpdate) => boolean;
  readonly #reader = new SlowReader(process.stdout);
  #phase: Phase = { is: "early", entries: [] };

  /** `isOthers`: whether what the agent says was asked for by somebody else. */
  constructor(print: (entry: Entry) => void, isOthers: (update: SessionUpdate) => boolean) {
    this.#print = print;
    this.#isOthers = isOthers;
  }

  entry(entry: Entry): void {
    const phase = this.#phase;
    if (phase.is === "over" || (entry.kind === "update" && this.#isOthers(entry.update))) return;
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
