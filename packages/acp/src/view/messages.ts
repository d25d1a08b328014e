// Messages, thoughts and messages between sessions: upserts replace, chunks append, in order of arrival (C49).

import type { ContentBlock, Meta } from "../model/content.ts";
import type { Update } from "../model/update.ts";
import { appendBlock, ownBlocks, patched, patchedMeta } from "./patch.ts";
import type { MessageItem, SessionMessageItem } from "./session-view.ts";
import { addItem, firstSight, type Mutable, touch, type ViewState } from "./view-state.ts";

function message(state: ViewState, kind: MessageItem["kind"], messageId: string): Mutable<MessageItem> {
  const known = state.fold.messages[kind].get(messageId);
  if (known !== undefined) return known;
  const item = addItem<Mutable<MessageItem>>(state, {
    kind,
    ...firstSight(state, `${kind}:${messageId}`),
    messageId,
    content: [],
    echoed: false,
    outcome: undefined,
    meta: undefined,
  });
  state.fold.messages[kind].set(messageId, item);
  return item;
}

/** Metadata of a chunk is about the chunk and does not patch the message's. */
export function appendToMessage(
  state: ViewState,
  kind: MessageItem["kind"],
  chunk: { messageId: string; content: ContentBlock },
): void {
  const item = message(state, kind, chunk.messageId);
  // The agent begins to repeat a prompt: its account takes the place of what was sent.
  if (!item.echoed) {
    item.echoed = true;
    item.content = [];
  }
  appendBlock(item.content, chunk.content);
  touch(state, item);
}

export function upsertMessage(
  state: ViewState,
  kind: MessageItem["kind"],
  update: { messageId: string; content?: ContentBlock[] | null; _meta?: Meta | null },
): void {
  const item = message(state, kind, update.messageId);
  if (update.content !== undefined) {
    item.echoed = true;
    item.content = ownBlocks(update.content ?? []);
  }
  item.meta = patchedMeta(item.meta, update._meta);
  touch(state, item);
}

/** A prompt as it was accepted. The agent may have repeated it already, in one piece or in chunks. */
export function applyPrompt(state: ViewState, messageId: string, prompt: readonly ContentBlock[]): void {
  const item = message(state, "user_message", messageId);
  if (item.echoed) return;
  item.content = ownBlocks(prompt);
  touch(state, item);
}

function sessionMessage(state: ViewState, messageId: string): Mutable<SessionMessageItem> {
  const known = state.fold.sessionMessages.get(messageId);
  if (known !== undefined) return known;
  const item = addItem<Mutable<SessionMessageItem>>(state, {
    kind: "session_message",
    ...firstSight(state, `session_message:${messageId}`),
    messageId,
    senderSessionId: undefined,
    recipientSessionId: undefined,
    senderMessageId: undefined,
    recipientMessageId: undefined,
    content: [],
    meta: undefined,
  });
  state.fold.sessionMessages.set(messageId, item);
  return item;
}

export function upsertSessionMessage(
  state: ViewState,
  update: Extract<Update, { sessionUpdate: "session_message" }>,
): void {
  const item = sessionMessage(state, update.messageId);
  item.senderSessionId = patched(item.senderSessionId, update.senderSessionId);
  item.recipientSessionId = patched(item.recipientSessionId, update.recipientSessionId);
  item.senderMessageId = patched(item.senderMessageId, update.senderMessageId);
  item.recipientMessageId = patched(item.recipientMessageId, update.recipientMessageId);
  if (update.content !== undefined) item.content = ownBlocks(update.content ?? []);
  item.meta = patchedMeta(item.meta, update._meta);
  touch(state, item);
}

export function appendToSessionMessage(
  state: ViewState,
  chunk: { messageId: string; content: ContentBlock },
): void {
  const item = sessionMessage(state, chunk.messageId);
  appendBlock(item.content, chunk.content);
  touch(state, item);
}
