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
export function plainTextHead({
  sessionUpdate,
  messageId,
}: Pick<PlainText, "sessionUpdate" | "messageId">): string {
  return `${beforeId[sessionUpdate]}${JSON.stringify(messageId)}${beforeText}`;
}

const beforeId = {
  agent_message_chunk: '{"sessionUpdate":"agent_message_chunk","messageId":',
  agent_thought_chunk: '{"sessionUpdate":"agent_thought_chunk","messageId":',
};

/** The JSON of such a chunk behind its text. */
export const endOfPlainText = '"}}';

/** Where the text begins in the JSON of such a chunk. */
export interface PlainTextPlace {
  readonly tag: ChunkTag;
  /** The place of the quote before the text. What stands before it is the same for all chunks of a message. */
  readonly start: number;
}

/**
 * Finds the text in JSON that was written as above. Undefined for anything else, and for an id with a backslash. It takes a
 * fraction of the time of JSON.parse, and most of a history are such chunks.
 */
export function plainTextIn(json: string): PlainTextPlace | undefined {
  return placeIn(json, "agent_message_chunk") ?? placeIn(json, "agent_thought_chunk");
}

function placeIn(json: string, tag: ChunkTag): PlainTextPlace | undefined {
  const head = beforeId[tag];
  if (!json.startsWith(head)) return undefined;
  // behind the quote
  const id = head.length + 1;
  const idEnd = json.indexOf('"', id);
  const start = idEnd + 1 + beforeText.length;
  if (json[id - 1] !== '"' || !json.startsWith(beforeText, idEnd + 1) || json[start] !== '"')
    return undefined;
  const backslash = json.indexOf("\\", id);
  const isWhole = (backslash === -1 || backslash > start) && json.endsWith(endOfPlainText);
  if (!isWhole || textEnd(json, start + 1, backslash) !== json.length - endOfPlainText.length)
    return undefined;
  return { tag, start };
}

/** The id in such JSON. */
export function messageIdIn(json: string, { tag, start }: PlainTextPlace): string {
  return json.slice(beforeId[tag].length + 1, start - beforeText.length - 1);
}

const beforeWholeText = ',"content":[{"type":"text","text":';

/** The JSON of a whole message up to the text of its one block of content: the message whose first chunk this JSON is. */
export function wholeTextHead(json: string, { tag, start }: PlainTextPlace): string {
  const id = json.slice(beforeId[tag].length, start - beforeText.length);
  return `${beforeId[tag].replace("_chunk", "")}${id}${beforeWholeText}`;
}

/** The place of the quote that ends a text, or -1 if it has an escape that JSON does not know. `first` is the first backslash. */
function textEnd(json: string, from: number, first: number): number {
  let quote = json.indexOf('"', from);
  for (let at = first; at !== -1 && at < quote; at = json.indexOf("\\", at + 2)) {
    if (!isEscape(json, at + 1)) return -1;
    if (quote === at + 1) quote = json.indexOf('"', at + 2);
  }
  return quote;
}

const hexCode = /[\da-fA-F]{4}/y;

/** Whether JSON knows the escape whose character behind the backslash stands at `at`. */
function isEscape(json: string, at: number): boolean {
  const letter = json[at];
  if (letter !== "u") return letter !== undefined && '"\\/bfnrt'.includes(letter);
  hexCode.lastIndex = at + 1;
  return hexCode.test(json);
}
