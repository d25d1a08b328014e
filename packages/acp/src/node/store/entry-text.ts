// An entry as text. Long strings in it (images, files) are cut out and kept apart, so that equal ones are
// kept once; where that is not enough the whole text is kept apart. The row says where each belongs.

import type { ContentBlock } from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";

/** Strings and texts above this many characters are kept apart. */
const longText = 65_536;

type Path = readonly (string | number)[];

/** A text that is kept apart, and the place it was cut from; the empty path is the entry itself. */
export interface LongText {
  readonly path: Path;
  readonly text: string;
}

export interface EntryText {
  readonly seq: number;
  readonly body: string;
  readonly longTexts: readonly LongText[];
  /** Whether it has text that is searched. */
  readonly isSpoken: boolean;
}

/** A copy: what the caller does with the entry afterwards does not matter. */
export function textOfEntry(entry: Entry): EntryText {
  const body = JSON.stringify(entry);
  const { seq } = entry;
  const isSpoken = spokenText(entry) !== undefined;
  if (body.length <= longText) return { seq, body, longTexts: [], isSpoken };
  const longTexts: LongText[] = [];
  const rest = JSON.stringify(cutLongTexts(JSON.parse(body), [], longTexts));
  if (rest.length <= longText) return { seq, body: rest, longTexts, isSpoken };
  return { seq, body: "", longTexts: [{ path: [], text: rest }, ...longTexts], isSpoken };
}

/** Throws when the text does not have the form of an entry. */
export function entryFromText(body: string, longTexts: readonly LongText[]): Entry {
  // most have none, and a history has many thousands
  const whole =
    longTexts.length === 0 ? body : (longTexts.find(({ path }) => path.length === 0)?.text ?? body);
  const entry: unknown = JSON.parse(whole);
  for (const { path, text } of longTexts) if (path.length > 0) put(entry, path, text);
  if (typeof entry !== "object" || entry === null || !("seq" in entry) || !("kind" in entry)) {
    throw new SyntaxError("it is no entry");
  }
  // as: a text of ours, by its checksum and by its form
  return entry as Entry;
}

/** Empties the long strings of a parsed value and lists them. */
function cutLongTexts(value: unknown, path: Path, found: LongText[]): unknown {
  if (typeof value === "string" && value.length > longText) {
    found.push({ path, text: value });
    return "";
  }
  if (typeof value !== "object" || value === null) return value;
  for (const [key, inner] of Object.entries(value)) {
    const cut = cutLongTexts(inner, [...path, Array.isArray(value) ? Number(key) : key], found);
    if (cut !== inner) setOwn(value, key, cut);
  }
  return value;
}

function put(root: unknown, path: Path, text: string): void {
  let target = root;
  for (const key of path.slice(0, -1)) target = Object.getOwnPropertyDescriptor(target, key)?.value;
  const last = path.at(-1);
  if (typeof target !== "object" || target === null || last === undefined || !Object.hasOwn(target, last)) {
    throw new SyntaxError(`it has no place for the text at /${path.join("/")}`);
  }
  setOwn(target, last, text);
}

/** An assignment would lose the value of a key that is called __proto__. */
function setOwn(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

export interface SpokenText {
  readonly text: string;
  /** Chunks of one message are searched as one text. */
  readonly messageId: string;
  readonly isChunk: boolean;
}

/** What the user or the agent said in an entry; thoughts, tools and plans are not searched. */
export function spokenText(entry: Entry): SpokenText | undefined {
  if (entry.kind === "prompt") return spoken(entry.prompt, entry.messageId, false);
  if (entry.kind !== "update") return undefined;
  const { update } = entry;
  if (update.sessionUpdate === "agent_message_chunk") {
    // as: an update of a tag that we know was decoded; its content is one block
    return spoken([update.content as ContentBlock], String(update.messageId), true);
  }
  if (update.sessionUpdate !== "agent_message") return undefined;
  // as: likewise; absent and null content say nothing
  return spoken((update.content ?? []) as readonly ContentBlock[], String(update.messageId), false);
}

function spoken(
  blocks: readonly ContentBlock[],
  messageId: string,
  isChunk: boolean,
): SpokenText | undefined {
  const texts = blocks.flatMap((block) =>
    block.type === "text" && typeof block.text === "string" ? [block.text] : [],
  );
  const text = texts.join("\n");
  return text === "" ? undefined : { text, messageId, isChunk };
}
