// Numbers the entries of a session, and shows each thing once.

import type { Entry } from "@parley/acp";
import type { EntryBody } from "@parley/acp/store";
import type { SessionStatus } from "../conversation/session-link.ts";
import { separateCalls } from "../history/separate-calls.ts";
import type { HostTails } from "./host-tails.ts";
import { ResentPrompts } from "./resent-prompts.ts";

/** After these, the options, the commands or the turn are others. */
export const stateTags: ReadonlySet<string> = new Set([
  "config_option_update",
  "available_commands_update",
  "session_info_update",
  "state_update",
]);

export class SessionEntries {
  readonly #tails: HostTails;
  readonly #resent = new ResentPrompts();
  readonly #separate = separateCalls();
  readonly #subagents = new Set<string>();
  #isEmpty = true;

  constructor(tails: HostTails) {
    this.#tails = tails;
  }

  /** Whether nothing was said yet. What the host says itself does not count. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Whether the session has a subagent with this id. */
  hasSubagent(sessionId: string): boolean {
    return this.#subagents.has(sessionId);
  }

  /** What the agent says, or has said before. `turn` is the start of the turn that runs. */
  add(
    entry: Entry,
    { isPast = false, turn }: { readonly isPast?: boolean; readonly turn?: number | undefined },
  ): void {
    const shown = this.#resent.shown(this.#separate(entry), turn);
    if (shown === undefined) return;
    if (shown.kind === "update" && shown.update.sessionUpdate === "subagent_update")
      this.#subagents.add(shown.update.sessionId);
    this.#isEmpty = false;
    const seq = this.#tails.seq + 1;
    this.#tails.entry(shown.seq === seq ? shown : { ...shown, seq }, isPast);
  }

  /** An entry of the host itself. */
  own(body: EntryBody, status?: SessionStatus): Entry {
    const entry = this.made(body);
    this.#tails.entry(entry, false, status);
    return entry;
  }

  /** The same, to be shown later. */
  made(body: EntryBody): Entry {
    return { format: 1, seq: this.#tails.seq + 1, time: Date.now(), ...body };
  }

  show(entry: Entry, status: SessionStatus): void {
    this.#tails.entry({ ...entry, seq: this.#tails.seq + 1 }, false, status);
  }
}
