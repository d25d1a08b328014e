// The updates that show a stored history again: whole messages, with the ids that they have. For a version without whole
// messages, each message is one piece.

import { jsonBytes, splitJsonBytes } from "../../../base/json-size.ts";
import { messageIdIn, plainTextHead, plainTextIn } from "../../../log/plain-text.ts";
import type { ContentBlock } from "../../../model/content.ts";
import type { Entry } from "../../../model/entry.ts";
import { entryFormat } from "../../../model/entry-format.ts";
import { type PlainToolCall, plainToolCallIn } from "../../../model/plain-tool-call.ts";
import type { StoredEntry } from "../../../model/store.ts";
import type { SessionUpdate, UpdateOf } from "../../../model/update.ts";
import { type Chunk, isPlain, WholeFirst } from "../../../model/whole-first.ts";
import type { StoredHistory } from "./guarded-store.ts";
import { ReplayedText } from "./replayed-text.ts";
import type { SessionSender } from "./session-sender.ts";

type Message = UpdateOf<"user_message" | "agent_message" | "agent_thought">;

/** How much text of a message one update of a replay has, in bytes of JSON, where larger messages can be sent. */
const maxJoinedBytes = 1024 * 1024;

/** The work for a page is about a millisecond. Each page costs a turn of the event loop. */
const pageSize = 256;

/** An update to show again, and its JSON where the store has it. */
interface Parsed {
  readonly update: SessionUpdate;
  readonly text: string | undefined;
}

/** Plain text and plain tool calls are not parsed. A string is the JSON of the update. */
export type Replayed = Parsed | PlainToolCall | string;

/** The updates for the entries before `endSeq`, page by page. */
export async function* replayedHistory(
  history: Pick<StoredHistory, "pages" | "read">,
  endSeq: number,
  { maxSentBytes, edition }: Pick<SessionSender, "maxSentBytes" | "edition">,
): AsyncGenerator<readonly Replayed[], void> {
  const shown = new ShownAgain(maxSentBytes, edition.hasWholeMessages);
  for await (const page of history.pages({ pageSize })) {
    yield updatesOf(page, endSeq, shown, history.read);
    if ((page.at(-1)?.seq ?? 0) >= endSeq) break;
  }
  const rest: Replayed[] = [];
  shown.end(rest);
  yield rest;
}

/** Not a part of the generator, because V8 optimises loops there later. */
function updatesOf(
  page: readonly StoredEntry[],
  endSeq: number,
  shown: ShownAgain,
  read: StoredHistory["read"],
): readonly Replayed[] {
  const updates: Replayed[] = [];
  for (const stored of page) {
    if (stored.seq >= endSeq) break;
    const { kind, format, text } = stored;
    // a message is one line, and another program may have written the entry
    const isLine = kind === "update" && !text.includes("\n");
    if (isLine && format === entryFormat && shown.takeJson(stored, updates)) continue;
    const update = updateOf(read(stored));
    if (update !== undefined) shown.take({ update, text: isLine ? text : undefined }, updates);
  }
  return updates;
}

/** The same for updates of which all are at hand. */
export function replayedUpdates(
  updates: readonly SessionUpdate[],
  maxSentBytes: number,
): readonly SessionUpdate[] {
  const shown = new ShownAgain(maxSentBytes, true);
  const replayed: Replayed[] = [];
  for (const update of updates) shown.take({ update, text: undefined }, replayed);
  shown.end(replayed);
  return replayed.map((each) => parsed(each));
}

/** The update to show again. */
export function parsed(replayed: Replayed): SessionUpdate {
  if (typeof replayed === "string") return JSON.parse(replayed);
  return "json" in replayed ? JSON.parse(replayed.json) : replayed.update;
}

/** Whole messages, none of them larger than what one message can hold. */
class ShownAgain {
  readonly #maxBytes: number;
  readonly #joined: JoinedMessages;
  readonly #wholes: WholeFirst | undefined;

  constructor(maxSentBytes: number, hasWholeMessages: boolean) {
    this.#wholes = hasWholeMessages ? new WholeFirst() : undefined;
    // the other half is for what stands around the text
    this.#maxBytes = Math.min(maxJoinedBytes, maxSentBytes / 2);
    this.#joined = new JoinedMessages(this.#maxBytes);
  }

  /** Adds the updates that are complete now to `to`. */
  take(given: Parsed, to: Replayed[]): void {
    for (const part of fitting(given, this.#maxBytes)) {
      const wholes = this.#wholes?.take(part.update);
      if (wholes === undefined) this.#joined.take(part, to);
      else
        for (const update of wholes)
          this.#joined.take(update === part.update ? part : { update, text: undefined }, to);
    }
  }

  /** As `take`, for JSON that need not be parsed. Otherwise it returns false, and has done nothing. */
  takeJson({ tag, text }: StoredEntry, to: Replayed[]): boolean {
    // a UTF-16 unit takes at most three bytes
    if (text.length * 3 > this.#maxBytes) return false;
    return tag === "tool_call_update" ? this.#takeCall(text, to) : this.#takeText(text, to);
  }

  #takeCall(json: string, to: Replayed[]): boolean {
    const call = plainToolCallIn(json);
    if (call === undefined) return false;
    if (call.hasContent) this.#wholes?.tookToolCall(call.toolCallId);
    this.#joined.takeCall(call, to);
    return true;
  }

  #takeText(json: string, to: Replayed[]): boolean {
    const place = plainTextIn(json);
    if (place === undefined) return false;
    if (this.#joined.addText(json, to)) return true;
    const isWhole = this.#wholes?.beginsMessage(place.tag, messageIdIn(json, place)) ?? false;
    this.#joined.beginText(new ReplayedText(json, place, isWhole), to);
    return true;
  }

  end(to: Replayed[]): void {
    this.#joined.end(to);
  }
}

/** The update that shows one entry: a message or what was sent. Damaged ones are not shown. Options and commands are part of the answer. */
function updateOf(entry: Entry): SessionUpdate | undefined {
  if (entry.kind === "prompt" || entry.kind === "inbox") {
    const { messageId, prompt } = entry;
    if (!Array.isArray(prompt)) return undefined;
    return { sessionUpdate: "user_message", messageId, content: [...prompt] };
  }
  if (entry.kind !== "update") return undefined;
  const { update } = entry;
  // a message without a list of blocks cannot be shown, and must not cost the others
  if (isMessage(update) && update.content != null && !Array.isArray(update.content)) return undefined;
  const { sessionUpdate } = update;
  const isState = sessionUpdate === "config_option_update" || sessionUpdate === "available_commands_update";
  return isState ? undefined : update;
}

/**
 * Joins a message with the pieces that follow it: the store has a long one in several entries. What exceeds one message
 * follows in further pieces.
 */
class JoinedMessages {
  readonly #maxBytes: number;
  /** What more could follow: a message, or the last of its pieces. */
  #open: (Parsed & { readonly update: Message | Chunk }) | undefined;
  /** The same, where nothing of it was parsed. Never both. */
  #text: ReplayedText | undefined;
  #content: ContentBlock[] = [];
  /** The size of the content as JSON. Counted when the first piece comes: most messages have none. */
  #bytes: number | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a piece of plain text to the message that is open. False if it belongs to another one. */
  addText(text: string, to: Replayed[]): boolean {
    const open = this.#open?.update;
    const isPiece = this.#text?.hasPiece(text) ?? (open !== undefined && isTextPieceOf(open, text));
    // parsed to be measured where it may be too large
    if (isPiece && this.#text?.add(text, this.#maxBytes) !== true)
      this.take({ update: JSON.parse(text), text }, to);
    return isPiece;
  }

  /** Ends the message that is open, and begins another one. */
  beginText(text: ReplayedText, to: Replayed[]): void {
    this.end(to);
    this.#text = text;
  }

  takeCall(call: PlainToolCall, to: Replayed[]): void {
    this.end(to);
    to.push(call);
  }

  /** Adds the updates that are complete now to `to`. */
  take(given: Parsed, to: Replayed[]): void {
    const { update, text } = given;
    if (this.#text !== undefined && isChunk(update)) this.#parseText(to);
    const open = this.#open?.update;
    const isPiece = open !== undefined && isPlainPieceOf(open, update);
    if (isPiece && this.#append(open, update.content)) return;
    this.end(to);
    if (isPiece || (isChunk(update) && isPlain(update))) {
      this.#open = { update, text };
      this.#content = [update.content];
    } else if (isMessage(update) && update.content != null) {
      this.#open = { update, text };
      this.#content = [...update.content];
    } else to.push(given);
  }

  /** False when it must be a piece of its own. */
  #append(open: Message | Chunk, block: ContentBlock): boolean {
    const before = this.#bytes ?? this.#content.reduce((sum, each) => sum + bytesOf(each), 0);
    const bytes = before + bytesOf(block);
    const last = this.#content.at(-1);
    const joins = last !== undefined && isBareText(last) && isBareText(block);
    if (bytes > this.#maxBytes || (!joins && !isMessage(open))) return false;
    this.#bytes = bytes;
    if (joins) this.#content[this.#content.length - 1] = { ...last, text: last.text + block.text };
    else this.#content.push(block);
    return true;
  }

  /** A piece follows that is more than plain text. */
  #parseText(to: Replayed[]): void {
    const text = this.#text?.json;
    this.#text = undefined;
    if (text !== undefined) this.take({ update: JSON.parse(text), text }, to);
  }

  /** Adds the message or piece that more could have followed. */
  end(to: Replayed[]): void {
    if (this.#text !== undefined) to.push(this.#text.json);
    this.#text = undefined;
    const open = this.#open;
    const [first] = this.#content;
    const isJoined = this.#bytes !== undefined;
    this.#open = undefined;
    this.#bytes = undefined;
    if (open === undefined) return;
    const { update } = open;
    // one that nothing was joined to keeps its stored JSON
    if (!isJoined) to.push(open);
    else if (isMessage(update)) to.push({ update: { ...update, content: this.#content }, text: undefined });
    else if (first !== undefined) to.push({ update: { ...update, content: first }, text: undefined });
  }
}

/** A piece of text that is too long for one message, as several. */
function fitting(given: Parsed, maxBytes: number): readonly Parsed[] {
  const { update } = given;
  if (!isChunk(update) || !isPlain(update) || !isBareText(update.content)) return [given];
  const { content } = update;
  const parts = splitJsonBytes(content.text, maxBytes);
  if (parts.length === 1) return [given];
  return parts.map((text) => ({ update: { ...update, content: { ...content, text } }, text: undefined }));
}

const textTags = ["agent_message_chunk", "agent_thought_chunk"] as const;

/** As isPlainPieceOf, for the JSON of a chunk of plain text. */
function isTextPieceOf({ sessionUpdate: tag, messageId }: Message | Chunk, json: string): boolean {
  const sessionUpdate = textTags.find((each) => each.startsWith(tag));
  return sessionUpdate !== undefined && json.startsWith(plainTextHead({ sessionUpdate, messageId }));
}

function bytesOf(block: ContentBlock): number {
  return jsonBytes(isBareText(block) ? block.text : JSON.stringify(block));
}

function isMessage(update: SessionUpdate): update is Message {
  const { sessionUpdate } = update;
  return (
    sessionUpdate === "user_message" || sessionUpdate === "agent_message" || sessionUpdate === "agent_thought"
  );
}

function isChunk(update: SessionUpdate): update is Chunk {
  const { sessionUpdate } = update;
  return (
    sessionUpdate === "user_message_chunk" ||
    sessionUpdate === "agent_message_chunk" ||
    sessionUpdate === "agent_thought_chunk"
  );
}

function isPlainPieceOf(
  { sessionUpdate, messageId }: Message | Chunk,
  update: SessionUpdate,
): update is Chunk {
  return (
    isChunk(update) &&
    update.sessionUpdate.startsWith(sessionUpdate) &&
    update.messageId === messageId &&
    isPlain(update)
  );
}

/** Nothing but a type and a text. */
function isBareText(
  block: ContentBlock,
): block is Extract<ContentBlock, { type: "text" }> & { text: string } {
  return block?.type === "text" && Object.keys(block).length === 2;
}
