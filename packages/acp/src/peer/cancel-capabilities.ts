// Which tool calls and terminals the agent lets the client cancel by themselves, by what it said last (C58). Only
// version 2 says so.

import type { Update } from "../model/update.ts";

export class CancelCapabilities {
  readonly #toolCalls = new Set<string>();
  readonly #terminals = new Set<string>();

  note(update: Update): void {
    if (update.sessionUpdate === "tool_call_update") this.#note(this.#toolCalls, update.toolCallId, update);
    else if (update.sessionUpdate === "terminal_update")
      this.#note(this.#terminals, update.terminalId, update);
  }

  checkToolCall(toolCallId: string): void {
    if (!this.#toolCalls.has(toolCallId)) throw notOffered("cancelToolCall", `the tool call ${toolCallId}`);
  }

  checkTerminal(terminalId: string): void {
    if (!this.#terminals.has(terminalId)) throw notOffered("cancelTerminal", `the terminal ${terminalId}`);
  }

  #note(
    ids: Set<string>,
    id: string,
    { capabilities }: { readonly capabilities?: { readonly cancel?: object | null } | null },
  ): void {
    // absent keeps, null clears
    if (capabilities === undefined) return;
    if (capabilities?.cancel == null) ids.delete(id);
    else ids.add(id);
  }
}

function notOffered(call: string, what: string): TypeError {
  return new TypeError(`${call}: the agent does not offer to cancel ${what} by itself; cancel the session`);
}
