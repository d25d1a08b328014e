// Applies messages, thoughts and messages between sessions to a view: updates replace, chunks append.

import type { ContentBlock, Meta } from "../model/content.ts";
import { appendBlock, ownBlocks, patchedMeta, patchFields } from "./patch.ts";
import type { MessageItem, SessionMessageItem, UpdateOf } from "./session-view.ts";
import { findOrAdd, firstSight, type Mutable, touch, type ViewState } from "./view-state.ts";

function message(state: ViewState, kind: MessageItem["kind"], messageId: string): Mutable<MessageItem> {
  const messages = state.fold.messages[kind];
  // looked up first, because this runs for every chunk
  return (
    messages.get(messageId) ??
    findOrAdd(state, messages, messageId, () => ({
      kind,
      ...firstSight(state, `${kind}:${messageId}`),
      messageId,
      content: [],
      echoed: false,
      outcome: undefined,
      meta: undefined,
    }))
  );
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

/** Applies an accepted prompt, unless the agent has already repeated it. */
export function applyPrompt(state: ViewState, messageId: string, prompt: readonly ContentBlock[]): void {
  const item = message(state, "user_message", messageId);
  if (item.echoed) return;
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
    meta: undefined,
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
  patchFields(item, update, sessionMessageFields);
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
