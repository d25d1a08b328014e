// Tracks the tool calls of a session: which are open, what is known of them, and which can be cancelled.

import { isObject, optional } from "../../../base/objects.ts";
import { anyObject, count, fields, listOf, type Shape, text } from "../../../base/shape.ts";
import type { SessionUpdate, ToolCallContent, ToolCallUpdate, UpdateOf } from "../../../model/update.ts";

const stages = ["pending", "in_progress", "completed", "failed"];
/** Like the index of a status that is none of these. */
const unknown = -1;

/** What is known of the tool calls of a session, as JSON. */
export interface ToolCallsState {
  readonly progress: Readonly<Record<string, number>>;
  /** The open calls, and their titles. */
  readonly open: readonly { readonly toolCallId: string; readonly title?: string }[];
  readonly background: readonly string[];
  readonly cancellableCalls: readonly string[];
  readonly cancellableTerminals: readonly string[];
  readonly details?: readonly KnownCallState[];
}

const callShape = fields({ toolCallId: text }, { title: text });

export const toolCallsShape: Shape = fields(
  {
    progress: { type: "object", additionalProperties: { type: "integer" } },
    open: listOf(callShape),
    background: listOf(text),
    cancellableCalls: listOf(text),
    cancellableTerminals: listOf(text),
  },
  {
    details: listOf(
      fields({ toolCallId: text, fields: anyObject, content: listOf(anyObject), chars: count }),
    ),
  },
);

export class ToolCallTracker {
  /**
   * Every call so far, and how far it has come: a patch without a status opens a call only if it is the first about it,
   * and a late announcement must not set it back.
   */
  readonly #progress: Map<string, number>;
  /** The open calls, with their titles. */
  readonly #open: Map<string, string | undefined>;
  readonly #background: Set<string>;
  readonly #cancellableCalls: Set<string>;
  readonly #cancellableTerminals: Set<string>;
  readonly #details: KnownToolCalls | undefined;

  /** `keepsDetails`: for a policy, which decides by all that is known of a call. `state`: goes on from there. */
  constructor({ keepsDetails }: { readonly keepsDetails: boolean }, state?: ToolCallsState) {
    this.#progress = new Map(Object.entries(state?.progress ?? {}));
    this.#open = new Map(state?.open.map(({ toolCallId, title }) => [toolCallId, title]));
    this.#background = new Set(state?.background);
    this.#cancellableCalls = new Set(state?.cancellableCalls);
    this.#cancellableTerminals = new Set(state?.cancellableTerminals);
    this.#details = keepsDetails ? new KnownToolCalls(state?.details) : undefined;
  }

  get state(): ToolCallsState {
    return {
      progress: Object.fromEntries(this.#progress),
      open: [...this.#open].map(([toolCallId, title]) => ({ toolCallId, ...optional({ title }) })),
      background: [...this.#background],
      cancellableCalls: [...this.#cancellableCalls],
      cancellableTerminals: [...this.#cancellableTerminals],
      ...optional({ details: this.#details?.state }),
    };
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

/** Characters of the messages that brought it. Then the oldest calls are forgotten. */
const maxChars = 32 * 1024 * 1024;

interface KnownCall {
  fields: Partial<ToolCallUpdate>;
  /** Here and not in the fields, since chunks are added to it. */
  content: ToolCallContent[];
  chars: number;
}

type KnownCallState = Readonly<KnownCall> & { readonly toolCallId: string };

export class KnownToolCalls {
  readonly #calls = new Map<string, KnownCall>();
  #chars = 0;

  constructor(state: readonly KnownCallState[] = []) {
    for (const { toolCallId, ...call } of state) {
      this.#calls.set(toolCallId, call);
      this.#chars += call.chars;
    }
  }

  get state(): readonly KnownCallState[] {
    return [...this.#calls].map(([toolCallId, call]) => ({ toolCallId, ...call }));
  }

  patch(update: ToolCallUpdate, chars: number): void {
    const { toolCallId, content } = update;
    const known = this.#call(toolCallId, chars);
    if (content !== undefined) known.content = [...(content ?? [])];
    known.fields = patched(known.fields, update);
    this.#forgetOldest();
  }

  append(toolCallId: string, content: ToolCallContent, chars: number): void {
    this.#call(toolCallId, chars).content.push(content);
    this.#forgetOldest();
  }

  forget(toolCallId: string): void {
    this.#chars -= this.#calls.get(toolCallId)?.chars ?? 0;
    this.#calls.delete(toolCallId);
  }

  clear(): void {
    this.#calls.clear();
    this.#chars = 0;
  }

  /** What is known of the call, changed by what a question says of it. Undefined when nothing is known. */
  find(toolCallId: string, said: Partial<ToolCallUpdate> = {}): ToolCallUpdate | undefined {
    const known = this.#calls.get(toolCallId);
    if (known === undefined && Object.keys(said).length === 0) return undefined;
    const { content, ...fields } = askedAbout({ ...known?.fields, content: known?.content ?? [] }, said);
    return { ...fields, toolCallId, ...(content?.length ? { content: [...content] } : {}) };
  }

  #call(toolCallId: string, chars: number): KnownCall {
    const known = this.#calls.get(toolCallId) ?? { fields: {}, content: [], chars: 0 };
    known.chars += chars;
    this.#chars += chars;
    this.#calls.set(toolCallId, known);
    return known;
  }

  #forgetOldest(): void {
    for (const oldest of this.#calls.keys()) {
      if (this.#chars <= maxChars) return;
      this.forget(oldest);
    }
  }
}

/**
 * What is known of a call and what a question says of it. Agents say less in the question than in the updates before
 * it: what it leaves out or empty is still meant, also single fields of the input, such as the directory of a command.
 */
export function askedAbout(
  known: Partial<ToolCallUpdate>,
  said: Partial<ToolCallUpdate>,
): Partial<ToolCallUpdate> {
  const full = Object.entries(said).filter(([name, value]) =>
    name === "kind" && known.kind != null ? value !== "other" && value != null : !isEmpty(value),
  );
  const merged: Partial<ToolCallUpdate> = { ...known, ...Object.fromEntries(full) };
  if (!isObject(known.rawInput) || !isObject(said.rawInput)) return merged;
  return { ...merged, rawInput: { ...known.rawInput, ...said.rawInput } };
}

function isEmpty(value: unknown): boolean {
  return value == null || (typeof value === "object" && Object.keys(value).length === 0);
}

/** Absent keeps, null clears. */
function patched(
  { ...fields }: Partial<ToolCallUpdate>,
  update: Partial<ToolCallUpdate>,
): Partial<ToolCallUpdate> {
  const { content: _, ...said } = update;
  for (const [name, value] of Object.entries(said)) {
    if (value === null)
      delete fields[name as keyof ToolCallUpdate]; // a key of what was said
    else if (value !== undefined) Object.assign(fields, { [name]: value });
  }
  return fields;
}
