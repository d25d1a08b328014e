// Decides what of a session is recorded: no secrets, nothing that every opening repeats, no endless terminal output.

import type { Entry, SessionUpdate } from "@parley/acp";
import { streamRedactor } from "@parley/acp/redact";
import type { EntryBody } from "@parley/acp/store";

/** Base64 characters that are kept of each terminal. */
const terminalChars = 1024 * 1024;

export interface RecordedEntries {
  /** Takes an entry, and returns all that are now complete. */
  next(entry: Entry): EntryBody[];
  /** Returns the text that is still held back, because it may be the beginning of a secret. */
  end(): EntryBody[];
}

export function recordedEntries(secrets: Iterable<string>): RecordedEntries {
  const redactor = streamRedactor<Entry>(secrets);
  const terminals = new Map<string, number>();

  function isLeftOut(update: SessionUpdate): boolean {
    switch (update.sessionUpdate) {
      case "available_commands_update":
      case "config_option_update":
      case "state_update":
        return true;
      case "terminal_output_chunk": {
        const chars = (terminals.get(update.terminalId) ?? 0) + update.data.length;
        if (chars > terminalChars) return true;
        terminals.set(update.terminalId, chars);
        return false;
      }
      default:
        return false;
    }
  }

  function kept({ format: _format, seq: _seq, time: _time, ...body }: Entry): EntryBody[] {
    return body.kind === "update" && isLeftOut(body.update) ? [] : [body];
  }

  return {
    next: (entry) => redactor.next(entry).flatMap(kept),
    end: () => redactor.end().flatMap(kept),
  };
}
