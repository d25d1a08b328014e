// Turns text into the bytes of a file and back, in the encodings that a request may name.

import { bytesAsUnits, fromBase64, toBase64 } from "../base/base64.ts";
import type { TextEncoding } from "./services.ts";

const encodings: Readonly<Record<TextEncoding, true>> = {
  "utf-8": true,
  "utf-16le": true,
  latin1: true,
  ascii: true,
  base64: true,
  hex: true,
};

export const encodingNames: readonly string[] = Object.keys(encodings);

export function isTextEncoding(name: unknown): name is TextEncoding {
  return typeof name === "string" && Object.hasOwn(encodings, name);
}

/** Whether the text shows any bytes, so that it has no lines. */
export function isByteEncoding(encoding: TextEncoding): boolean {
  return encoding === "base64" || encoding === "hex";
}

/** The bytes that the text stands for; undefined where it stands for none. */
export function bytesFromText(text: string, encoding: TextEncoding): Uint8Array | undefined {
  switch (encoding) {
    case "utf-8":
      return text.isWellFormed() ? new TextEncoder().encode(text) : undefined;
    case "utf-16le":
      return bytesOfUnits(text, 2);
    case "latin1":
      return isWithin(text, 0xff) ? bytesOfUnits(text, 1) : undefined;
    case "ascii":
      return isWithin(text, 0x7f) ? bytesOfUnits(text, 1) : undefined;
    case "base64":
      return fromBase64(text);
    case "hex": {
      if (text.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(text)) return undefined;
      return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
        Number.parseInt(text.slice(2 * at, 2 * at + 2), 16),
      );
    }
  }
}

/** The text for the bytes; undefined where they are no text of this encoding. */
export function textFromBytes(bytes: Uint8Array, encoding: TextEncoding): string | undefined {
  switch (encoding) {
    case "utf-8":
    case "utf-16le":
      return decoded(bytes, encoding);
    case "latin1":
      return bytesAsUnits(bytes);
    case "ascii":
      return bytes.every((byte) => byte <= 0x7f) ? bytesAsUnits(bytes) : undefined;
    case "base64":
      return toBase64(bytes);
    case "hex":
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

/** What a person is shown of a text in this encoding: its text where the bytes are UTF-8, or that they are not. */
export function shownText(content: string, encoding: TextEncoding = "utf-8"): string {
  if (encoding === "utf-8") return content;
  const bytes = bytesFromText(content, encoding);
  if (bytes === undefined) return content;
  const text = isByteEncoding(encoding) ? decoded(bytes, "utf-8") : content;
  return text === undefined || text.includes("\0") ? `(binary data, ${bytes.length} bytes)` : text;
}

function decoded(bytes: Uint8Array, encoding: "utf-8" | "utf-16le"): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isWithin(text: string, highest: number): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > highest) return false;
  return true;
}

function bytesOfUnits(text: string, size: 1 | 2): Uint8Array {
  const bytes = new Uint8Array(text.length * size);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    bytes[at * size] = unit & 0xff;
    if (size === 2) bytes[at * 2 + 1] = unit >> 8;
  }
  return bytes;
}
