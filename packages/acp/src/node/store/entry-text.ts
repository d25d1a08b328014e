// Converts entries to text, with long strings (images, files) separated, so that equal ones are stored once.

import type { ContentBlock } from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import { entryFormat } from "../../model/entry-format.ts";

/** Strings and texts above this many characters are stored separately. */
const longText = 65_536;

type Path = readonly (string | number)[];

/** A separate text and its path in the entry; the empty path is the entry itself. */
export interface LongText {
  readonly path: Path;
  readonly text: string;
}

export interface EntryText {
  readonly seq: number;
  readonly body: string;
  readonly longTexts: readonly LongText[];
  /** Whether it has searchable text. */
  readonly isSpoken: boolean;
}

/** Copies the entry. */
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

/** Throws when the text is not an entry. */
export function entryFromText(body: string, longTexts: readonly LongText[]): Entry {
  // most entries have none
  const whole =
    longTexts.length === 0 ? body : (longTexts.find(({ path }) => path.length === 0)?.text ?? body);
  const entry: unknown = JSON.parse(whole);
  for (const { path, text } of longTexts) if (path.length > 0) put(entry, path, text);
  if (typeof entry !== "object" || entry === null || !("seq" in entry)) {
    throw new SyntaxError("it is not an entry");
  }
  // as: our own text, checked by its checksum and its form
  return entry as Entry;
}

/** Replaces long strings of a parsed value by "" and collects them. */
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

/** Unlike an assignment, works for the key `__proto__`. */
function setOwn(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

export interface SpokenText {
  readonly text: string;
  /** Chunks of one message are searched as one text. */
  readonly messageId: string;
  readonly isChunk: boolean;
}

/** The text of the user or the agent in an entry; thoughts, tools and plans are not searched. */
export function spokenText(entry: Entry): SpokenText | undefined {
  // written by a later version: only that one knows where its text is
  if (entry.format > entryFormat) return undefined;
  if (entry.kind === "prompt") return spoken(entry.prompt, entry.messageId, false);
  if (entry.kind !== "update") return undefined;
  const { update } = entry;
  if (update.sessionUpdate === "agent_message_chunk") {
    // as: an update with a known tag has been decoded
    return spoken([update.content as ContentBlock], String(update.messageId), true);
  }
  if (update.sessionUpdate !== "agent_message") return undefined;
  // as: likewise
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
