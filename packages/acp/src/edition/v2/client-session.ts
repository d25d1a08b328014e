// One session at the client's end in version 2: which prompt is part of the conversation, and which idle ends
// its work. The answer to a prompt and the echo of its message come in any order, so an idle may come before
// the answer; a snapshot that only repeats what is known ends nothing (C56).

import { RequestError, rpcCodes } from "../../jsonrpc/errors.ts";
import type { ContentBlock, SessionConfigOption } from "../../model/content.ts";
import type { Outcome, Update } from "../../model/update.ts";
import { stableUpdateTags, unstableUpdateTags } from "../../wire/v2/methods.gen.ts";
import type { ClientSessionEdition, ClientSessionSink } from "../client-edition.ts";

interface OpenPrompt {
  readonly prompt: number;
  /** Known once the agent has answered. */
  messageId?: string;
  /** The agent was at work for somebody else when this one came. */
  readonly joinedWork: boolean;
}

export class V2ClientSession implements ClientSessionEdition {
  readonly #open: OpenPrompt[] = [];
  /** Messages that were echoed before their prompt was answered, with the outcome if their work has ended. */
  readonly #echoes = new Map<string, Outcome | undefined>();
  #busy = false;
  #lastIdle = "";
  #cancelled = false;
  #replaying = false;
  #minted = 0;

  setOptions(_options: readonly SessionConfigOption[]): void {
    // version 2 always sends whole lists
  }

  optionsChanged(options: readonly SessionConfigOption[]): readonly SessionConfigOption[] {
    return options;
  }

  setReplaying(replaying: boolean): void {
    this.#replaying = replaying;
  }

  receive(given: object, out: ClientSessionSink): void {
    const update = given as Update; // validated by the method's row
    if (!stableUpdateTags.has(update.sessionUpdate) && !unstableUpdateTags.has(update.sessionUpdate)) {
      return out.update({ sessionUpdate: update.sessionUpdate as never, unknown: true, raw: given });
    }
    if (update.sessionUpdate === "user_message" || update.sessionUpdate === "user_message_chunk") {
      if (!this.#replaying) this.#echoed(update.messageId, out);
    }
    out.update(update);
    if (update.sessionUpdate === "state_update" && !this.#replaying) this.#state(update, out);
  }

  promptSent(prompt: number, _content: readonly ContentBlock[], _out: ClientSessionSink): void {
    this.#open.push({ prompt, joinedWork: this.#busy });
  }

  promptAnswered(prompt: number, result: object, out: ClientSessionSink): void {
    const entry = this.#find(prompt);
    if (entry === undefined || entry.messageId !== undefined) return;
    let { messageId } = result as { messageId: string };
    // an agent of an older draft does not say: the echo does, if it has come
    if (messageId === "") messageId = [...this.#echoes.keys()][0] ?? `unnamed-${++this.#minted}`;
    entry.messageId = messageId;
    out.accepted(prompt, messageId);
    const ended = this.#echoes.get(messageId);
    this.#echoes.delete(messageId);
    if (ended !== undefined) this.#close(entry, ended, out);
  }

  promptFailed(prompt: number, error: Error, out: ClientSessionSink): void {
    const entry = this.#find(prompt);
    if (entry === undefined) return;
    const withdrawn = error instanceof RequestError && error.code === rpcCodes.cancelled;
    // withdrawn before it became part of the conversation: an outcome, never a throw
    if (withdrawn || this.#cancelled) return this.#close(entry, { stopReason: "cancelled" }, out);
    this.#open.splice(this.#open.indexOf(entry), 1);
    out.failed(prompt, error);
  }

  cancelled(): void {
    if (this.#open.length > 0) this.#cancelled = true;
  }

  #echoed(messageId: string, out: ClientSessionSink): void {
    const unnamed = this.#open.find((entry) => entry.messageId?.startsWith("unnamed-"));
    if (unnamed !== undefined) {
      unnamed.messageId = messageId;
      out.accepted(unnamed.prompt, messageId);
      return;
    }
    const waiting = this.#open.some((entry) => entry.messageId === undefined);
    if (waiting && !this.#echoes.has(messageId)) this.#echoes.set(messageId, undefined);
  }

  #state(update: Extract<Update, { sessionUpdate: "state_update" }>, out: ClientSessionSink): void {
    if (update.state !== "idle") {
      // an unknown state is not idle (C55)
      this.#busy = true;
      return;
    }
    const snapshot = JSON.stringify(update);
    const repeated = !this.#busy && snapshot === this.#lastIdle;
    this.#busy = false;
    this.#lastIdle = snapshot;
    if (repeated) return;
    const outcome = this.#outcomeOf(update);
    for (const [messageId, ended] of this.#echoes)
      if (ended === undefined) this.#echoes.set(messageId, outcome);
    const inserted = this.#open.filter((entry) => entry.messageId !== undefined);
    for (const [i, entry] of inserted.entries()) {
      this.#close(entry, i > 0 || entry.joinedWork ? { ...outcome, joined: true } : outcome, out);
    }
  }

  #outcomeOf(update: { stopReason?: unknown; error?: unknown; usage?: unknown }): Outcome {
    const { stopReason, error, usage } = update as Partial<Outcome>;
    const reason = this.#cancelled ? "cancelled" : (stopReason ?? "end_turn");
    return {
      stopReason: reason,
      ...(reason === "error" && error ? { error } : {}),
      ...(usage == null ? {} : { usage }),
    };
  }

  #close(entry: OpenPrompt, outcome: Outcome, out: ClientSessionSink): void {
    this.#open.splice(this.#open.indexOf(entry), 1);
    const ended = this.#cancelled ? { ...outcome, stopReason: "cancelled" as const } : outcome;
    if (this.#open.length === 0) {
      this.#cancelled = false;
      this.#echoes.clear();
    }
    out.outcome(entry.prompt, ended);
  }

  #find(prompt: number): OpenPrompt | undefined {
    return this.#open.find((entry) => entry.prompt === prompt);
  }
}
