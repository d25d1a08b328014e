// Recognises chunks of plain text, which are nearly all updates of a session.

/**
 * The kinds of update whose text grows.
 *
 * @inline
 */
export type ChunkTag = "agent_message_chunk" | "agent_thought_chunk";

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

const beforeText = ',"content":{"type":"text","text":';

/** The JSON of such a chunk up to its text. */
export function plainTextHead({ sessionUpdate, messageId }: PlainText): string {
  return `${beforeId[sessionUpdate]}${JSON.stringify(messageId)}${beforeText}`;
}

const beforeId = {
  agent_message_chunk: '{"sessionUpdate":"agent_message_chunk","messageId":',
  agent_thought_chunk: '{"sessionUpdate":"agent_thought_chunk","messageId":',
};
const end = '"}}';

/**
 * The chunk that this JSON is, if it was written as above. It takes a fraction of the time of JSON.parse, and most of a
 * history are such chunks.
 */
export function plainTextFrom(json: string): PlainText | undefined {
  return readPlainText(json, "agent_message_chunk") ?? readPlainText(json, "agent_thought_chunk");
}

function readPlainText(json: string, sessionUpdate: ChunkTag): PlainText | undefined {
  const head = beforeId[sessionUpdate];
  if (!json.startsWith(head)) return undefined;
  // behind the quote
  const id = head.length + 1;
  const idEnd = json.indexOf('"', id);
  const start = idEnd + 1 + beforeText.length;
  if (json[id - 1] !== '"' || !json.startsWith(beforeText, idEnd + 1) || json[start] !== '"')
    return undefined;
  // the first quote of the text ends it, and the object; a backslash may hide one, in the id too
  const isPlain = json.indexOf('"', start + 1) === json.length - end.length && json.endsWith(end);
  if (!isPlain || json.includes("\\")) return undefined;
  const messageId = json.slice(id, idEnd);
  return { sessionUpdate, messageId, content: { type: "text", text: json.slice(start + 1, -end.length) } };
}
