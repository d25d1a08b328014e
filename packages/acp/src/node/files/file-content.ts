// Reads the bytes of an open file, and converts between bytes, versions and text.

import { isUtf8 } from "node:buffer";
import { read, readSync } from "node:fs";
import { promisify } from "node:util";
import type { TextEncoding } from "../../model/services.ts";
import { bytesFromText, encodingNames, isTextEncoding, textFromBytes } from "../../model/text-encodings.ts";
import { fileError, quotedPath, throwIfAborted } from "./file-error.ts";

const readAsync = promisify(read);

/** Up to this size a synchronous read is several times faster than the thread pool. */
const smallBytes = 256 * 1024;
const chunkBytes = 1024 * 1024;

interface ContentOptions {
  readonly maxBytes: number;
  /** As the caller wrote it. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the whole file, even if it grows meanwhile. Does not close the descriptor. */
export async function readContent(fd: number, size: bigint, options: ContentOptions): Promise<Buffer> {
  throwIfAborted(options.signal, options.path);
  if (size > options.maxBytes) throw tooLarge(size, options);
  if (size <= smallBytes) return readContentSync(fd, size, options);
  const content = new Content(size, options);
  for (;;) {
    const { buffer, offset, length } = content.space();
    const { bytesRead } = await readAsync(fd, buffer, offset, Math.min(length, chunkBytes), offset);
    throwIfAborted(options.signal, options.path);
    if (bytesRead === 0) return content.bytes();
    content.filled(bytesRead);
  }
}

/** The same, synchronously: for small files, and for the last check before a file is replaced. */
export function readContentSync(fd: number, size: bigint, options: ContentOptions): Buffer {
  if (size > options.maxBytes) throw tooLarge(size, options);
  const content = new Content(size, options);
  for (;;) {
    const { buffer, offset, length } = content.space();
    const bytesRead = readSync(fd, buffer, offset, length, offset);
    if (bytesRead === 0) return content.bytes();
    content.filled(bytesRead);
  }
}

/** Equal bytes have equal versions. A version also has the format, so that a write that expects it need not read the file. */
export function contentVersion(bytes: Uint8Array): string {
  // loaded on first use: 6 ms
  const { hash } = process.getBuiltinModule("node:crypto");
  const { byteOrderMark, crlf } = formatOf(bytes);
  return `sha256-${hash("sha256", bytes, "base64url")}${byteOrderMark ? "+bom" : ""}${crlf ? "+crlf" : ""}`;
}

/** The format in a version. Undefined for a text that is not one of our versions. */
export function formatIn(version: string): TextFormat | undefined {
  const [whole, mark, crlf] = /^sha256-[\w-]{43}(\+bom)?(\+crlf)?$/.exec(version) ?? [];
  return whole === undefined ? undefined : { byteOrderMark: mark !== undefined, crlf: crlf !== undefined };
}

/** A buffer that grows with the file; files in /proc claim to be empty. */
class Content {
  readonly #options: ContentOptions;
  #buffer: Buffer;
  #length = 0;

  constructor(size: bigint, options: ContentOptions) {
    this.#options = options;
    // one more, so that the end is seen without growing
    this.#buffer = Buffer.allocUnsafe(Math.max(Number(size), 512) + 1);
  }

  space(): { buffer: Buffer; offset: number; length: number } {
    if (this.#length === this.#buffer.length) {
      const larger = Buffer.allocUnsafe(this.#buffer.length * 2);
      this.#buffer.copy(larger);
      this.#buffer = larger;
    }
    return { buffer: this.#buffer, offset: this.#length, length: this.#buffer.length - this.#length };
  }

  filled(bytes: number): void {
    this.#length += bytes;
    if (this.#length > this.#options.maxBytes) throw tooLarge(this.#length, this.#options);
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

function tooLarge(size: bigint | number, { maxBytes, path }: ContentOptions): Error {
  const message = `${quotedPath(path)} has ${size} bytes, over the limit of ${maxBytes}`;
  return fileError("limit_exceeded", `${message}; read a part of it with a command`, path);
}

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

/** Throws RequestError "invalid_params" for an encoding that is not known. */
export function checkedEncoding(encoding: TextEncoding = "utf-8", path: string): TextEncoding {
  if (isTextEncoding(encoding)) return encoding;
  const wanted = `encoding must be one of ${encodingNames.join(", ")}`;
  throw fileError("invalid_argument", `${quotedPath(path)}: ${wanted}, got ${String(encoding)}`, path);
}

export function decodeText(bytes: Buffer, path: string, encoding: TextEncoding): string {
  if (encoding !== "utf-8") {
    const text = textFromBytes(bytes, encoding);
    if (text !== undefined) return text;
    const message = `${quotedPath(path)} is not ${encoding} text (${bytes.length} bytes); read it as base64`;
    throw fileError("not_text", message, path);
  }
  if (!isUtf8(bytes)) {
    const message = `${quotedPath(path)} is not UTF-8 text (${bytes.length} bytes); convert it, or read it as bytes`;
    throw fileError("not_text", message, path);
  }
  return bytes.toString("utf8", hasMark(bytes) ? markBytes : 0);
}

/** The bytes that the content stands for. */
export function encodedBytes(content: string, encoding: TextEncoding, path: string): Buffer {
  const bytes = typeof content === "string" ? bytesFromText(content, encoding) : undefined;
  if (bytes !== undefined) return Buffer.from(bytes);
  throw fileError(
    "invalid_argument",
    `${quotedPath(path)}: content must be text in ${encoding}, and is not`,
    path,
  );
}

/** Encodes text in the format of the replaced file, if there is one. */
export function encodeText(content: string, format: TextFormat | undefined): Buffer {
  const lines = format?.crlf && !content.includes("\r\n") ? content.replaceAll("\n", "\r\n") : content;
  return Buffer.from(format?.byteOrderMark && !lines.startsWith(mark) ? mark + lines : lines);
}

interface LineRange {
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
    const message = `${quotedPath(path)}: ${name} must be a whole number from 0 up, got ${String(value)}`;
    throw fileError("invalid_argument", message, path);
  }
}
