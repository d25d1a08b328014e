// Reads an image whose path was pasted or dropped on the terminal.

import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import type { PastedImage } from "@parley/client/conversation";

const types: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** Models take no larger ones. */
export const mostImageBytes = 10 * 1024 * 1024;

/** Undefined if the text is not the path of an image; resolves with undefined if there is none that can be read. */
export function pastedImage(text: string): Promise<PastedImage | undefined> | undefined {
  const path = pathIn(text);
  const mimeType = types[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""];
  if (mimeType === undefined || path.includes("\n")) return undefined;
  return readImage(path, mimeType);
}

async function readImage(path: string, mimeType: string): Promise<PastedImage | undefined> {
  try {
    const { size } = await stat(path);
    if (size === 0 || size > mostImageBytes) return undefined;
    return { mimeType, data: (await readFile(path)).toString("base64") };
  } catch {
    return undefined;
  }
}

/** Terminals quote a dropped path, escape its blanks or send an address. */
function pathIn(text: string): string {
  const trimmed = text.trim();
  const [, quoted] = /^'([^']+)'$/.exec(trimmed) ?? /^"([^"]+)"$/.exec(trimmed) ?? [];
  if (quoted !== undefined) return quoted;
  if (trimmed.startsWith("file://") && URL.canParse(trimmed)) {
    try {
      return fileURLToPath(trimmed);
    } catch {
      return trimmed;
    }
  }
  return trimmed.replaceAll(/\\(.)/g, "$1").replace(/^~(?=\/)/, homedir());
}
