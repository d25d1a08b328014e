// Recognises chunks of plain text, which are nearly all updates of a session.

import type { ChunkTag } from "./session-log.ts";

/** A chunk of a message without annotations and custom data. */
export interface PlainText {
  readonly sessionUpdate: ChunkTag;
  readonly messageId: string;
  readonly content: { readonly type: "text"; readonly text: string };
}

/** Whether a valid update, which has no other fields, is such a chunk. */
export function isPlainText(update: object): update is PlainText {
  const { sessionUpdate, messageId, content, _meta } = update as {
    readonly sessionUpdate?: unknown;
    readonly messageId?: unknown;
    readonly content?: {
      readonly type?: unknown;
      readonly annotations?: unknown;
      readonly _meta?: unknown;
    } | null;
    readonly _meta?: unknown;
  };
  return (
    (sessionUpdate === "agent_message_chunk" || sessionUpdate === "agent_thought_chunk") &&
    typeof messageId === "string" &&
    content?.type === "text" &&
    content.annotations == null &&
    content._meta == null &&
    _meta == null
  );
}

/** The JSON of such a chunk up to its text. */
export function plainTextHead({ sessionUpdate, messageId }: PlainText): string {
  return `{"sessionUpdate":"${sessionUpdate}","messageId":${JSON.stringify(messageId)},"content":{"type":"text","text":`;
}
