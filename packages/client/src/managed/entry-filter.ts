// Drops entries that are replayed by a restarted agent, and says which entries are recorded.

import type { Entry, Update } from "@parley/acp";

/** What is true now and not part of the conversation. */
const facts = new Set<string>([
  "available_commands_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
  "state_update",
]);

const spoken = /^(?:agent_|tool_call|plan|terminal_)/;

/** Whether an update shows that the agent has begun to work on something. */
export function beginsWork({ sessionUpdate }: Update): boolean {
  return spoken.test(sessionUpdate);
}

export class EntryFilter {
  readonly #tell: (entry: Entry, isRecorded: boolean) => void;
  #isMuted: boolean;
  /** Kept until the session has a name. */
  #early: Entry[] | undefined;
  #isRecording = false;
  #isStopped = false;
  #hasBegun = false;

  constructor(what: "new" | "history" | "silent", tell: (entry: Entry, isRecorded: boolean) => void) {
    this.#tell = tell;
    this.#isMuted = what === "silent";
    this.#early = what === "new" ? [] : undefined;
    this.#isRecording = what === "silent";
  }

  /** Whether the agent has done something since the last prompt was sent. */
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
    if (this.#early === undefined) this.#tell(entry, this.#isRecording);
    else this.#early.push(entry);
  }

  activated(): void {
    this.#hasBegun = false;
  }

  /** From now on entries are kept by whoever records; those of a new session from its beginning. */
  startRecording(): void {
    this.#isRecording = true;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const entry of early) this.#tell(entry, true);
  }

  beginPrompt(): void {
    this.#isMuted = false;
    this.#hasBegun = false;
  }

  /** Another one has taken its place. */
  stop(): void {
    this.#isStopped = true;
  }
}
