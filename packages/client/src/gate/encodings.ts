// Decodes and encodes files whose encoding the user has set.

import { errorCodes, RequestError } from "@parley/acp";

export function decodeFrom(bytes: Uint8Array, label: string, path: string): string {
  try {
    return decoderOf(label, path).decode(bytes);
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw notText(`${path} is not ${label}; say its real encoding`, path);
  }
}

export function encodeTo(text: string, label: string, path: string): Uint8Array {
  const { encoding } = decoderOf(label, path);
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text);
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
    default:
      return encodeBytewise(text, encoding, path);
  }
}

function decoderOf(label: string, path: string): TextDecoder {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    const wanted = "wanted a label such as utf-16le or windows-1252";
    const data = { reason: "invalid_params" };
    throw new RequestError(
      errorCodes.invalidParams,
      `${path}: unknown encoding ${JSON.stringify(label)}; ${wanted}`,
      data,
    );
  }
}

const tables = new Map<string, ReadonlyMap<string, number>>();

/** For encodings of one byte per character the decoder itself tells the way back. */
function encodeBytewise(text: string, encoding: string, path: string): Uint8Array {
  const table = tables.get(encoding) ?? tableOf(encoding);
  tables.set(encoding, table);
  const bytes: number[] = [];
  for (const character of text) {
    const byte = table.get(character);
    if (byte === undefined) {
      const shown = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
      throw notText(
        `${path} is ${encoding}, which ${table.size < 200 ? "can only be read here" : `has no ${shown}`}`,
        path,
      );
    }
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

function tableOf(encoding: string): ReadonlyMap<string, number> {
  const table = new Map<string, number>();
  const decoder = new TextDecoder(encoding, { fatal: true });
  for (let byte = 0; byte < 256; byte++) {
    try {
      const character = decoder.decode(Uint8Array.of(byte));
      if (character !== "") table.set(character, byte);
    } catch {
      // half of a character, or none
    }
  }
  return table;
}

function notText(message: string, file: string): RequestError {
  return new RequestError(errorCodes.notText, message, { reason: "not_text", file });
}
