// Tracks the tool calls of a session: which are open, what is known of them, and which can be cancelled.

import type { SessionUpdate, ToolCallUpdate, UpdateOf } from "../../../model/update.ts";
import { KnownToolCalls } from "./known-tool-calls.ts";

const stages = ["pending", "in_progress", "completed", "failed"];
/** Like the index of a status that is none of these. */
const unknown = -1;

export class ToolCallTracker {
  /**
   * Every call so far, and how far it has come: a patch without a status opens a call only if it is the first about it,
   * and a late announcement must not set it back.
   */
  readonly #progress = new Map<string, number>();
  /** The open calls, with their titles. */
  readonly #open = new Map<string, string | undefined>();
  readonly #background = new Set<string>();
  readonly #cancellableCalls = new Set<string>();
  readonly #cancellableTerminals = new Set<string>();
  readonly #details: KnownToolCalls | undefined;

  /** `keepsDetails`: for a policy, which decides by all that is known of a call. */
  constructor({ keepsDetails }: { readonly keepsDetails: boolean }) {
    this.#details = keepsDetails ? new KnownToolCalls() : undefined;
  }

  /** `chars` is the size of the message that brought the update. */
  note(update: SessionUpdate, chars: number): void {
    if (update.sessionUpdate === "tool_call_update") this.#noteCall(update, chars);
    else if (update.sessionUpdate === "tool_call_content_chunk")
      this.#details?.append(update.toolCallId, update.content, chars);
    else if (update.sessionUpdate === "terminal_update")
      noteCancel(this.#cancellableTerminals, update.terminalId, update);
    else if (update.sessionUpdate === "state_update") this.#noteState(update);
  }

  /** The calls that a cancel ends, without those in the background. */
  openCalls(): string[] {
    return [...this.#open.keys()].filter((id) => !this.#background.has(id));
  }

  /** Shows open calls as failed: the agent has gone, and nobody knows how far they came. */
  failOpen(out: { update(update: SessionUpdate): void }): void {
    for (const toolCallId of [...this.#open.keys()]) {
      const said = this.#progress.get(toolCallId) ?? unknown;
      out.update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
      // it is not the agent that says so
      this.#progress.set(toolCallId, said);
    }
  }

  isBeyond(toolCallId: string, status: string): boolean {
    return (this.#progress.get(toolCallId) ?? unknown) > stages.indexOf(status);
  }

  titleOf(toolCallId: string): string | undefined {
    return this.#open.get(toolCallId);
  }

  /** All that is known of a call, changed by what a question says of it. */
  detailsOf(toolCallId: string, said?: ToolCallUpdate): ToolCallUpdate | undefined {
    return this.#details?.find(toolCallId, said) ?? said;
  }

  /** Forgets open calls: what is still open was left behind, or is history. */
  clear(): void {
    this.#open.clear();
    this.#details?.clear();
  }

  checkToolCall(toolCallId: string): void {
    if (!this.#cancellableCalls.has(toolCallId))
      throw notOffered("cancelToolCall", `the tool call ${toolCallId}`);
  }

  checkTerminal(terminalId: string): void {
    if (!this.#cancellableTerminals.has(terminalId))
      throw notOffered("cancelTerminal", `the terminal ${terminalId}`);
  }

  #noteCall(update: UpdateOf<"tool_call_update">, chars: number): void {
    const { toolCallId, status } = update;
    noteCancel(this.#cancellableCalls, toolCallId, update);
    const known = this.#progress.size;
    const stage = status == null ? unknown : stages.indexOf(status);
    if (stage !== unknown || !this.#progress.has(toolCallId)) this.#progress.set(toolCallId, stage);
    const isNew = this.#progress.size > known;
    // an unknown status means still running
    if (status === "completed" || status === "failed" || status === "cancelled") {
      // one that is new was never open
      if (!isNew) this.#open.delete(toolCallId);
      this.#details?.forget(toolCallId);
      return;
    }
    if (this.#details !== undefined) {
      const { sessionUpdate: _, ...patch } = update;
      this.#details.patch(patch, chars);
    }
    if (isNew || status !== undefined) this.#open.set(toolCallId, update.title ?? this.#open.get(toolCallId));
    else if (update.title != null && this.#open.has(toolCallId)) this.#open.set(toolCallId, update.title);
  }

  #noteState(update: UpdateOf<"state_update">): void {
    if (Array.isArray(update.background)) {
      this.#background.clear();
      for (const work of update.background) {
        if (work.type === "tool_call") this.#background.add(work.toolCallId);
      }
    }
    if (update.state === "idle") this.clear();
  }
}

function noteCancel(
  ids: Set<string>,
  id: string,
  { capabilities }: { readonly capabilities?: { readonly cancel?: object | null } | null },
): void {
  // absent keeps, null clears
  if (capabilities === undefined) return;
  if (capabilities?.cancel == null) ids.delete(id);
  else ids.add(id);
}

function notOffered(call: string, what: string): TypeError {
  return new TypeError(`${call}: the agent does not offer to cancel ${what} by itself; cancel the session`);
}
