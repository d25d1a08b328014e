// Converts text files for the peer: reading removes a byte order mark; writing restores it, and CRLF line ends.

import { isUtf8 } from "node:buffer";
import { fileError, quoted } from "./file-error.ts";

export interface TextFormat {
  readonly byteOrderMark: boolean;
  /** Whether every line ends in CRLF, and there is at least one. */
  readonly crlf: boolean;
}

const markBytes = 3;
const mark = "\ufeff";
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export function formatOf(bytes: Uint8Array): TextFormat {
  return { byteOrderMark: hasMark(bytes), crlf: isAllCrlf(bytes) };
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function isAllCrlf(bytes: Uint8Array): boolean {
  let end = bytes.indexOf(lineFeed);
  if (end < 0) return false;
  for (; end >= 0; end = bytes.indexOf(lineFeed, end + 1)) {
    if (bytes[end - 1] !== carriageReturn) return false;
  }
  return true;
}

export function decodeText(bytes: Buffer, path: string): string {
  if (!isUtf8(bytes)) {
    const message = `${quoted(path)} is not UTF-8 text (${bytes.length} bytes); convert it, or read it as bytes`;
    throw fileError("not_text", message, path);
  }
  return bytes.toString("utf8", hasMark(bytes) ? markBytes : 0);
}

/** Encodes text in the format of the replaced file, if there is one. */
export function encodeText(content: string, format: TextFormat | undefined): Buffer {
  const lines = format?.crlf && !content.includes("\r\n") ? content.replaceAll("\n", "\r\n") : content;
  return Buffer.from(format?.byteOrderMark && !lines.startsWith(mark) ? mark + lines : lines);
}

export interface LineRange {
  readonly line?: number | undefined;
  readonly limit?: number | undefined;
}

/** Whole lines with their line ends, so that consecutive ranges add up to the text. */
export function sliceLines(text: string, { line, limit }: LineRange): string {
  const start = line === undefined ? 0 : startOfLine(text, 0, Math.max(line, 1) - 1);
  return limit === undefined ? text.slice(start) : text.slice(start, startOfLine(text, start, limit));
}

/** The start of the line `count` lines after `from`, or the end of the text. */
function startOfLine(text: string, from: number, count: number): number {
  let start = from;
  for (let left = count; left > 0; left -= 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return start;
}

export function checkLineRange({ line, limit }: LineRange, path: string): void {
  for (const [name, value] of Object.entries({ line, limit })) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) continue;
    const message = `${quoted(path)}: ${name} must be a whole number from 0 up, got ${String(value)}`;
    throw fileError("invalid_argument", message, path);
  }
}
