// Bounds what a view keeps: the oldest items that are over are dropped, and so is the oldest text of a message without end.

import type { ContentBlock } from "../model/content.ts";
import type { MessageItem, TerminalItem, TimelineItem } from "./session-view.ts";
import type { Mutable, TerminalState, ViewState } from "./view-state.ts";
import { isPlainText, touch } from "./view-state.ts";

type Measured = Mutable<TimelineItem> | TerminalState;

/** What an item takes besides its texts. */
const itemBytes = 500;
const fieldBytes = 16;
/** The last items are kept, however large they are. */
const lastItems = 8;

/** The sizes of everything that can be dropped. */
export class KeptItems {
  readonly limit: number;
  total = 0;
  /** When to look again: what is open cannot be dropped. */
  #next: number;
  readonly #sizes = new Map<Measured, number>();

  constructor(limit: number) {
    this.limit = limit;
    this.#next = limit;
  }

  get isFull(): boolean {
    return this.total > this.#next;
  }

  grew(thing: Measured, bytes: number): void {
    this.#sizes.set(thing, (this.#sizes.get(thing) ?? 0) + bytes);
    this.total += bytes;
  }

  added(thing: Measured): void {
    const bytes = itemBytes + sizeOf(thing);
    this.#sizes.set(thing, bytes);
    this.total += bytes;
  }

  removed(thing: Measured): void {
    this.total -= this.#sizes.get(thing) ?? 0;
    this.#sizes.delete(thing);
  }

  settled(): void {
    this.#next = Math.max(this.limit, this.total + this.limit / 4);
  }
}

/** About how many bytes a value of JSON takes. */
export function sizeOf(value: unknown): number {
  let size = 0;
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string") size += next.length;
    else if (typeof next === "object" && next !== null) {
      const fields: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
      size += fields.length * fieldBytes;
      for (const field of fields) rest.push(field);
    }
  }
  return size;
}

/** What a chunk adds to a message: text is joined. */
export function sizeOfChunk(block: ContentBlock): number {
  return isPlainText(block) ? block.text.length : sizeOf(block);
}

/** Drops the oldest items until some room is left. What is open stays. */
export function dropOldest(state: ViewState, kept: KeptItems): void {
  const enough = (kept.limit * 3) / 4;
  const { timeline } = state;
  const open: Mutable<TimelineItem>[] = [];
  let at = 0;
  for (; at < timeline.length - lastItems && kept.total > enough; at += 1) {
    // as: the items of a view are ours
    const item = timeline[at] as Mutable<TimelineItem>;
    if (isOpen(item)) open.push(item);
    else drop(state, item, kept);
  }
  const dropped = at - open.length;
  if (dropped > 0) {
    timeline.splice(0, at, ...open);
    state.dropped += dropped;
    dropUnused(state, kept);
  }
  if (kept.total > enough) for (const item of timeline) shorten(state, item as Mutable<TimelineItem>, kept);
  kept.settled();
}

function isOpen(item: TimelineItem): boolean {
  switch (item.kind) {
    case "user_message":
      return item.result === undefined;
    case "tool_call":
      return item.open;
    case "permission":
    case "elicitation":
      return item.answer === undefined;
    case "compaction":
      return item.status === "in_progress";
    case "subagent":
      return item.state !== undefined && item.state.state !== "idle";
    default:
      return false;
  }
}

function drop(state: ViewState, item: Mutable<TimelineItem>, kept: KeptItems): void {
  const { fold } = state;
  fold.changes.forget(item);
  kept.removed(item);
  switch (item.kind) {
    case "user_message":
    case "agent_message":
    case "agent_thought":
      fold.messages[item.kind].delete(item.messageId);
      return;
    case "tool_call":
      state.toolCalls.delete(item.toolCallId);
      return;
    case "permission":
    case "elicitation":
      fold.asks.delete(item.askId);
      return;
    case "compaction":
      fold.compactions.delete(item.compactionId);
      return;
    case "session_message":
      fold.sessionMessages.delete(item.messageId);
      return;
    case "subagent":
      state.subagents.delete(item.sessionId);
      return;
    default:
      return;
  }
}

/** Drops the terminals and files that only dropped calls have named. */
function dropUnused(state: ViewState, kept: KeptItems): void {
  const used = new Set<string>();
  for (const { terminalIds } of state.toolCalls.values()) for (const id of terminalIds) used.add(id);
  for (const [id, terminal] of state.terminals) {
    if (used.has(id) || isRunning(terminal)) continue;
    state.terminals.delete(id);
    state.fold.changes.forget(terminal);
    kept.removed(terminal);
  }
  for (const [path, file] of state.files) {
    for (const id of file.toolCallIds) if (!state.toolCalls.has(id)) file.toolCallIds.delete(id);
    if (file.toolCallIds.size > 0) continue;
    state.files.delete(path);
    state.fold.changes.forget(file);
  }
}

function isRunning({ exitStatus }: Pick<TerminalItem, "exitStatus">): boolean {
  return exitStatus === undefined;
}

/** Drops all text of a message but its last block. The blocks stay, so that others keep their places. */
function shorten(state: ViewState, item: Mutable<TimelineItem>, kept: KeptItems): void {
  if (item.kind !== "agent_message" && item.kind !== "agent_thought") return;
  const message: Mutable<MessageItem> = item;
  let bytes = 0;
  for (const block of message.content.slice(0, -1)) {
    if (!isPlainText(block) || block.text === "") continue;
    bytes += block.text.length;
    (block as { text: string }).text = ""; // as: a copy of ours
  }
  if (bytes === 0) return;
  message.dropped += bytes;
  kept.grew(item, -bytes);
  touch(state, item);
}
