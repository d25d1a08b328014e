// Drops entries that are replayed by a restarted agent, and says which entries are recorded.

import type { Entry } from "@parley/acp";
import { beginsWork } from "../history/begins-work.ts";

/** Updates of the current state, which are not part of the conversation. */
const facts = new Set<string>([
  "available_commands_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
  "state_update",
]);

export class EntryFilter {
  readonly #deliver: (entry: Entry, isRecorded: boolean) => void;
  #isMuted: boolean;
  /** Kept until the session has an id. */
  #early: Entry[] | undefined;
  #isRecording = false;
  #isStopped = false;
  #hasBegun = false;
  /** What the agent has replayed so far, while it may be recorded. */
  #replayed: Entry[] | undefined;

  constructor(what: "new" | "history" | "silent", deliver: (entry: Entry, isRecorded: boolean) => void) {
    this.#deliver = deliver;
    this.#isMuted = what === "silent";
    this.#early = what === "new" ? [] : undefined;
    this.#replayed = what === "history" ? [] : undefined;
    this.#isRecording = what === "silent";
  }

  /** Whether the agent has begun to work since the last prompt was sent. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  entry(entry: Entry): void {
    if (this.#isStopped) return;
    if (entry.kind === "update") {
      const kind = String(entry.update.sessionUpdate);
      if (this.#isMuted && !facts.has(kind)) return;
      if (beginsWork(entry.update)) this.#hasBegun = true;
    }
    this.#replayed?.push(entry);
    if (this.#early === undefined) this.#deliver(entry, this.#isRecording);
    else this.#early.push(entry);
  }

  activated(): void {
    this.#hasBegun = false;
  }

  /** The conversation so far, as the agent has replayed it. Given once. */
  takeReplayed(): readonly Entry[] | undefined {
    const replayed = this.#replayed;
    this.#replayed = undefined;
    return replayed;
  }

  /** Entries are recorded from now on; those of a new session from its beginning. */
  startRecording(): void {
    this.#isRecording = true;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const entry of early) this.#deliver(entry, true);
  }

  /** Some agents replay after their answer, so a replay ends with the next prompt. */
  beginPrompt(): void {
    this.#isMuted = false;
    this.#hasBegun = false;
  }

  /** Another filter has replaced it. */
  stop(): void {
    this.#isStopped = true;
  }
}
