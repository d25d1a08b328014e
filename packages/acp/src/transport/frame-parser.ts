// From the text of one frame to a message or a fault: size, depth, JSON. Used by every transport, so
// that they all refuse the same things in the same way.

import { endOfString } from "../jsonrpc/json-string.ts";
import type { Fault, Sink } from "../jsonrpc/transport.ts";
import type { FrameLimits } from "./frame-limits.ts";
import { beginsLikeJson } from "./json-beginning.ts";

/** How much of the end of a refused frame is kept, so that an id that was written last can be found. */
export const tailChars = 2 * 1024;

export const headChars = 64 * 1024;

const openBrace = 0x7b;
const quote = 0x22;

export interface FrameParser {
  /** Reports the frame to the sink. Blank frames are skipped. */
  frame(text: string): void;
  /** The last frame before the end of input: one that was cut off is counted, not answered. */
  lastFrame(text: string): void;
}

export function frameParser(
  sink: Pick<Sink, "message" | "reject">,
  limits: FrameLimits,
  byteLength: (text: string) => number,
): FrameParser {
  const { maxMessageBytes, maxDepth } = limits;
  // A UTF-16 unit takes at most three bytes, and `n` levels take at least 2n characters: below these
  // lengths nothing has to be counted.
  const safeLength = Math.floor(maxMessageBytes / 3);
  const safeDepthLength = 2 * maxDepth;

  function problem(text: string): Fault | undefined {
    if (text.length > safeLength) {
      const bytes = byteLength(text);
      if (bytes > maxMessageBytes) return fault("too_large", text, bytes);
    }
    return exceedsDepth(text, maxDepth) ? fault("too_deep", text, byteLength(text)) : undefined;
  }

  function refuse(text: string, cutOff: boolean): void {
    if (text.trim() === "") return;
    const found = fault("parse", text, byteLength(text));
    sink.reject(cutOff ? { ...found, cutOff } : found);
  }

  function parse(text: string, cutOff: boolean): void {
    if (text.length > safeDepthLength || text.length > safeLength) {
      const found = problem(text);
      if (found !== undefined) return sink.reject(found);
    }
    // what begins like every message there is goes straight to the parser
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

  return { frame: (text) => parse(text, false), lastFrame: (text) => parse(text, true) };
}

export function fault(kind: Fault["kind"], text: string, bytes: number): Fault {
  const head = text.slice(0, headChars);
  return text.length > headChars
    ? { kind, bytes, head, tail: text.slice(-tailChars) }
    : { kind, bytes, head };
}

/** The same for a frame whose text cannot be decoded. */
export function bytesFault(kind: Fault["kind"], frame: Uint8Array): Fault {
  const { length } = frame;
  const head = lossyHead(frame);
  if (length <= headChars) return { kind, bytes: length, head };
  return { kind, bytes: length, head, tail: lossyTail(frame) };
}

/** For a fault's head only: invalid sequences become U+FFFD. */
export function lossyHead(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, headChars));
}

export function lossyTail(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(-tailChars));
}

/**
 * Whether the text nests deeper than `max`. Brackets are first only counted, which indexOf does at
 * memory speed; the exact walk is for messages that have more brackets than allowed levels.
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
      case 0x22: // "
        i = endOfString(text, i);
        break;
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > max) return true;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        break;
    }
  }
  return false;
}
