// Applies messages, compactions and subagents to a view: updates replace, chunks append.

import type { ContentBlock, Meta } from "../model/content.ts";
import { textOf } from "../model/content-text.ts";
import type { PromptResult, UpdateOf } from "../model/update.ts";
import { sizeOf, sizeOfChunk } from "./kept-items.ts";
import type { CompactionItem, MessageItem, SessionMessageItem, SubagentItem } from "./session-view.ts";
import {
  appendBlock,
  findOrAdd,
  firstSight,
  type Mutable,
  ownBlocks,
  patched,
  patchedMeta,
  patchFields,
  touch,
  type ViewState,
} from "./view-state.ts";

function message(state: ViewState, kind: MessageItem["kind"], messageId: string): Mutable<MessageItem> {
  const messages = state.fold.messages[kind];
  // looked up first, because this runs for every chunk
  return (
    messages.get(messageId) ??
    findOrAdd(state, messages, messageId, () => new Message(state, kind, messageId))
  );
}

/** A class, because a getter of its own would make every chunk slower. */
class Message implements Mutable<MessageItem> {
  readonly kind: MessageItem["kind"];
  readonly key: string;
  version: number;
  readonly seq: number;
  readonly time: number;
  readonly messageId: string;
  content: ContentBlock[] = [];
  dropped = 0;
  echoed = false;
  result: PromptResult | undefined = undefined;
  _meta: Meta | undefined = undefined;

  constructor(state: ViewState, kind: MessageItem["kind"], messageId: string) {
    const { key, version, seq, time } = firstSight(state, `${kind}:${messageId}`);
    this.kind = kind;
    this.key = key;
    this.version = version;
    this.seq = seq;
    this.time = time;
    this.messageId = messageId;
  }

  get text(): string {
    return textOf(this.content);
  }
}

/** The metadata of a chunk does not change that of the message. */
export function appendToMessage(
  state: ViewState,
  kind: MessageItem["kind"],
  chunk: { messageId: string; content: ContentBlock },
): void {
  const item = message(state, kind, chunk.messageId);
  // The agent's own version of a prompt replaces the one that was sent.
  if (!item.echoed) {
    item.echoed = true;
    item.content = [];
  }
  appendBlock(item.content, chunk.content);
  state.fold.kept?.grew(item, sizeOfChunk(chunk.content));
  touch(state, item);
}

export function upsertMessage(
  state: ViewState,
  kind: MessageItem["kind"],
  update: { messageId: string; content?: readonly ContentBlock[] | null; _meta?: Meta | null },
): void {
  const item = message(state, kind, update.messageId);
  if (update.content !== undefined) {
    item.echoed = true;
    state.fold.kept?.grew(item, sizeOf(update.content) - sizeOf(item.content));
    item.content = ownBlocks(update.content ?? []);
    item.dropped = 0;
  }
  item._meta = patchedMeta(item._meta, update._meta);
  touch(state, item);
}

/** Applies an accepted prompt, unless the agent has already repeated it. */
export function applyPrompt(state: ViewState, messageId: string, prompt: readonly ContentBlock[]): void {
  const item = message(state, "user_message", messageId);
  if (item.echoed) return;
  state.fold.kept?.grew(item, sizeOf(prompt) - sizeOf(item.content));
  item.content = ownBlocks(prompt);
  touch(state, item);
}

function sessionMessage(state: ViewState, messageId: string): Mutable<SessionMessageItem> {
  return findOrAdd(state, state.fold.sessionMessages, messageId, () => ({
    kind: "session_message",
    ...firstSight(state, `session_message:${messageId}`),
    messageId,
    senderSessionId: undefined,
    recipientSessionId: undefined,
    senderMessageId: undefined,
    recipientMessageId: undefined,
    content: [],
    _meta: undefined,
  }));
}

const sessionMessageFields = [
  "senderSessionId",
  "recipientSessionId",
  "senderMessageId",
  "recipientMessageId",
] as const;

export function upsertSessionMessage(state: ViewState, update: UpdateOf<"session_message">): void {
  const item = sessionMessage(state, update.messageId);
  state.fold.kept?.grew(item, sizeOf(update) - sizeOf(item.content));
  patchFields(item, update, sessionMessageFields);
  if (update.content !== undefined) item.content = ownBlocks(update.content ?? []);
  item._meta = patchedMeta(item._meta, update._meta);
  touch(state, item);
}

export function appendToSessionMessage(
  state: ViewState,
  chunk: { messageId: string; content: ContentBlock },
): void {
  const item = sessionMessage(state, chunk.messageId);
  appendBlock(item.content, chunk.content);
  state.fold.kept?.grew(item, sizeOfChunk(chunk.content));
  touch(state, item);
}

function compaction(state: ViewState, compactionId: string): Mutable<CompactionItem> {
  return findOrAdd(state, state.fold.compactions, compactionId, () => ({
    kind: "compaction",
    ...firstSight(state, `compaction:${compactionId}`),
    compactionId,
    status: "in_progress",
    summary: [],
    error: undefined,
    _meta: undefined,
  }));
}

export function upsertCompaction(state: ViewState, update: UpdateOf<"compaction_update">): void {
  const item = compaction(state, update.compactionId);
  state.fold.kept?.grew(item, sizeOf(update) - sizeOf(item.summary));
  item.status = update.status;
  if (update.summary !== undefined) item.summary = ownBlocks(update.summary ?? []);
  item.error = patched(item.error, update.error);
  item._meta = patchedMeta(item._meta, update._meta);
  touch(state, item);
}

export function appendToCompaction(state: ViewState, compactionId: string, content: ContentBlock): void {
  const item = compaction(state, compactionId);
  appendBlock(item.summary, content);
  state.fold.kept?.grew(item, sizeOfChunk(content));
  touch(state, item);
}

function subagent(state: ViewState, sessionId: string): Mutable<SubagentItem> {
  return findOrAdd(state, state.subagents, sessionId, () => ({
    kind: "subagent",
    ...firstSight(state, `subagent:${sessionId}`),
    sessionId,
    title: undefined,
    description: undefined,
    state: undefined,
    cwd: undefined,
    additionalDirectories: undefined,
    capabilities: undefined,
    _meta: undefined,
  }));
}

export function upsertSubagent(state: ViewState, update: UpdateOf<"subagent_update">): void {
  const item = subagent(state, update.sessionId);
  patchFields(item, update, [
    "title",
    "description",
    "state",
    "cwd",
    "additionalDirectories",
    "capabilities",
  ]);
  item._meta = patchedMeta(item._meta, update._meta);
  touch(state, item);
}
