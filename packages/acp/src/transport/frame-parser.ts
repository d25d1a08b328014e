// Checks and parses one frame: size, UTF-8, depth and JSON, the same for every transport.

import { endOfString } from "../jsonrpc/json-text.ts";
import type { Fault, Lines, Sink } from "../jsonrpc/transport.ts";
import type { FrameLimits, TextPlatform } from "./byte-channel.ts";

/** How much of the beginning and the end of an invalid frame is kept, to find its id. */
export const headChars = 64 * 1024;
export const tailChars = 2 * 1024;

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;

export interface FrameParser {
  /** The text of a frame; undefined, and reported to the sink, when it is too large or not UTF-8. */
  decode(frame: Uint8Array, cutOff?: boolean): string | undefined;
  /** Reports the frame to the sink. Blank frames are skipped. */
  frame(text: string): void;
  /** Reports each line to the sink. */
  lines(lines: Lines): void;
  /** The last frame before the end of input, which may be incomplete. */
  lastFrame(text: string): void;
}

export type FrameSink = Pick<Sink, "message" | "unread" | "reject">;

export function frameParser(
  sink: FrameSink,
  { maxMessageBytes, maxDepth }: FrameLimits,
  platform: TextPlatform,
): FrameParser {
  const { byteLength } = platform;
  // A UTF-16 unit takes at most three bytes, and `n` levels take at least 2n characters, so shorter texts need
  // no check.
  const safeLength = Math.floor(maxMessageBytes / 3);
  const safeDepthLength = 2 * maxDepth;
  const longestUnchecked = Math.min(safeLength, safeDepthLength);

  function problem(text: string): Fault | undefined {
    if (text.length > safeLength) {
      const bytes = byteLength(text);
      if (bytes > maxMessageBytes) return fault("too_large", text, bytes);
    }
    if (!exceedsDepth(text, maxDepth)) return undefined;
    const found = fault("too_deep", text, byteLength(text));
    return found.tail === undefined ? found : { ...found, head: outline(text).slice(0, headChars) };
  }

  function refuse(text: string, cutOff: boolean): void {
    if (text.trim() === "") return;
    const found = fault("parse", text, byteLength(text));
    sink.reject(cutOff ? { ...found, isCutOff: cutOff } : found);
  }

  function passes(text: string): boolean {
    // a message of another framing may have line ends between its members
    if (sink.unread === undefined || text.includes("\n")) return false;
    return sink.unread({ text: `${text}\n`, bytes: undefined, ends: undefined }, 0, text.length) > 0;
  }

  function parse(text: string, cutOff: boolean, mayPass: boolean): void {
    if (text.length > longestUnchecked) {
      const found = problem(text);
      if (found !== undefined) return sink.reject(found);
    }
    if (mayPass && passes(text)) return;
    // nearly every message begins like this
    if ((text.charCodeAt(0) !== openBrace || text.charCodeAt(1) !== quote) && !beginsLikeJson(text))
      return refuse(text, cutOff);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return refuse(text, cutOff);
    }
    sink.message(value, text);
  }

  return {
    decode(frame, cutOff = false) {
      const isTooLarge = frame.length > maxMessageBytes;
      const text = isTooLarge ? undefined : platform.decode(frame);
      if (text !== undefined) return text;
      const found = bytesFault(isTooLarge ? "too_large" : "utf8", frame);
      sink.reject(cutOff ? { ...found, isCutOff: cutOff } : found);
      return undefined;
    },
    frame: (text) => parse(text, false, true),
    lines(lines) {
      const { text, ends } = lines;
      const known = sink.unread === undefined ? ends : undefined;
      for (let from = 0, n = 0; from < text.length; n++) {
        if (sink.unread !== undefined) from = sink.unread(lines, from, longestUnchecked);
        if (from >= text.length) return;
        const to = known?.[n] ?? text.indexOf("\n", from);
        // a shorter one has been offered already
        parse(text.slice(from, to), false, to - from > longestUnchecked);
        from = to + 1;
      }
    },
    lastFrame: (text) => parse(text, true, false),
  };
}

export function fault(kind: Fault["kind"], text: string, bytes: number): Fault {
  const head = text.slice(0, headChars);
  return text.length > headChars
    ? { kind, bytes, head, tail: text.slice(-tailChars) }
    : { kind, bytes, head };
}

/** Longer strings are left out of an outline. An id has at most 1,024 characters, each of them six when escaped. */
const outlinedChars = 8 * 1024;
/** Stands for a string, and is none that could be read. */
const unreadString = '"\\x"';

/** The root of an object without what is nested in it: its id may stand behind much else. */
function outline(text: string): string {
  let kept = "";
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case quote: {
        const end = endOfString(text, i);
        if (depth <= 1 && end - i > outlinedChars) {
          kept += text.slice(from, i) + unreadString;
          from = end + 1;
        }
        i = end;
        break;
      }
      case openBrace:
      case openBracket:
        if (++depth === 2) kept += text.slice(from, i + 1);
        break;
      case closeBrace:
      case closeBracket:
        if (--depth === 1) from = i;
        break;
    }
  }
  return kept + text.slice(from);
}

/** The same for a frame that cannot be decoded. */
export function bytesFault(kind: Fault["kind"], frame: Uint8Array): Fault {
  const found = { kind, bytes: frame.length, head: lossyHead(frame) };
  return frame.length > headChars ? { ...found, tail: lossyTail(frame) } : found;
}

/** The beginning of a frame; invalid sequences become U+FFFD. */
export function lossyHead(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, headChars));
}

export function lossyTail(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(-tailChars));
}

/**
 * Whether the text nests deeper than `max`. Counting brackets with indexOf is fast, so the exact walk is only
 * for texts with more brackets than allowed levels.
 */
export function exceedsDepth(text: string, max: number): boolean {
  let openers = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++openers > max) return walksDeeper(text, max);
    }
  }
  return false;
}

function walksDeeper(text: string, max: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case quote:
        i = endOfString(text, i);
        break;
      case openBrace:
      case openBracket:
        if (++depth > max) return true;
        break;
      case closeBrace:
      case closeBracket:
        depth--;
        break;
    }
  }
  return false;
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** False only for text that JSON.parse would refuse, such as `[INFO] starting`. True does not mean valid. JSON.parse throws, which is slow. */
function beginsLikeJson(text: string): boolean {
  const first = afterBlanks(text, 0);
  switch (text[first]) {
    case "{": {
      const next = afterBlanks(text, first + 1);
      return text[next] === '"' || (text[next] === "}" && isBlank(text, next + 1));
    }
    case "[":
      return arrayBegins(text, afterBlanks(text, first + 1));
    default: {
      const end = endOfScalar(text, first);
      return end !== -1 && isBlank(text, end);
    }
  }
}

/** Whether a first item or the end of an empty array is at `first`. */
function arrayBegins(text: string, first: number): boolean {
  if (text[first] === "{" || text[first] === "[") return true;
  if (text[first] === "]") return isBlank(text, first + 1);
  const end = endOfScalar(text, first);
  if (end === -1) return false;
  const next = afterBlanks(text, end);
  return text[next] === "," || (text[next] === "]" && isBlank(text, next + 1));
}

/** The end of the string, number or keyword at `start`, or -1. */
function endOfScalar(text: string, start: number): number {
  switch (text[start]) {
    case '"': {
      const end = endOfString(text, start);
      return end === text.length ? -1 : end + 1;
    }
    case "t":
      return text.startsWith("true", start) ? start + 4 : -1;
    case "f":
      return text.startsWith("false", start) ? start + 5 : -1;
    case "n":
      return text.startsWith("null", start) ? start + 4 : -1;
    default:
      number.lastIndex = start;
      return number.test(text) ? number.lastIndex : -1;
  }
}

function isBlank(text: string, from: number): boolean {
  return afterBlanks(text, from) === text.length;
}

/** Skips JSON whitespace, and vertical tab and form feed, which JSON.parse refuses later. */
function afterBlanks(text: string, from: number): number {
  let i = from;
  for (let code = text.charCodeAt(i); code === 0x20 || (code >= 0x09 && code <= 0x0d); ) {
    code = text.charCodeAt(++i);
  }
  return i;
}
