// Finds mentions of files such as `@src/a.ts`, and turns them into content blocks: embedded where the agent supports it, else links.

import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { AgentCapabilities, ContentBlock } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";

/** The content that an agent accepts in prompts: a part of `agent.capabilities`. */
export type AcceptedContent = Pick<AgentCapabilities, "image" | "audio" | "embeddedContext">;

/** More than this is linked: a model would be given all of it, wanted or not. */
const maxEmbeddedBytes = 256 * 1024;
/** Base64 of it fits into a message with room to spare. */
const maxMediaBytes = 16 * 1024 * 1024;

const media: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
  wav: "audio/wav",
  mp3: "audio/mpeg",
  ogg: "audio/ogg",
  flac: "audio/flac",
};

/** The extensions of images and sounds. */
export const wantedMedia = `its name has to end in one of ${Object.keys(media).join(", ")}`;

const texts: Readonly<Record<string, string>> = {
  md: "text/markdown",
  html: "text/html",
  css: "text/css",
  csv: "text/csv",
  json: "application/json",
  xml: "application/xml",
  svg: "image/svg+xml",
};

/** Undefined where there is no such file, so that the text stays text. A directory is always a link. */
export async function fileBlock(
  path: string,
  accepts: AcceptedContent,
  lines?: Mention["lines"],
): Promise<ContentBlock | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    // a pipe without a writer must not be waited for
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // missing, or not ours to read: then it is no mention
    return undefined;
  }
  try {
    const facts = await handle.stat();
    if (facts.isDirectory()) return link(await realpath(path), {});
    // a device or a pipe may never end
    if (!facts.isFile()) return undefined;
    const type = mediaType(path);
    const size = facts.size;
    if (isTaken(type, accepts) && size <= maxMediaBytes) {
      return mediaBlock(type, await handle.readFile(), path);
    }
    if (!accepts.embeddedContext || type !== undefined || size > maxEmbeddedBytes) {
      return link(await realpath(path), { size, mimeType: type ?? textType(path), lines });
    }
    const text = textOf(await handle.readFile());
    if (text === undefined) return link(await realpath(path), { size });
    const uri = uriOf(await realpath(path), lines);
    return { type: "resource", resource: { uri, text: linesOf(text, lines), mimeType: textType(path) } };
  } finally {
    await handle.close();
  }
}

/** `image/png` and so on, by the name; undefined for everything that is no image and no sound. */
export function mediaType(path: string): string | undefined {
  return media[extensionOf(path)];
}

function isTaken(type: string | undefined, accepts: AcceptedContent): type is string {
  if (type?.startsWith("image/")) return accepts.image;
  return type?.startsWith("audio/") === true && accepts.audio;
}

function mediaBlock(mimeType: string, bytes: Buffer, path: string): ContentBlock {
  const data = bytes.toString("base64");
  return mimeType.startsWith("image/")
    ? { type: "image", mimeType, data, uri: pathToFileURL(path).href }
    : { type: "audio", mimeType, data };
}

function link(
  path: string,
  facts: { size?: number; mimeType?: string | undefined; lines?: Mention["lines"] },
): ContentBlock {
  const { size, mimeType, lines } = facts;
  return {
    type: "resource_link",
    name: basename(path),
    uri: uriOf(path, lines),
    ...optional({ mimeType, size }),
  };
}

function uriOf(path: string, lines: Mention["lines"]): string {
  const { href } = pathToFileURL(path);
  return lines === undefined ? href : `${href}#L${lines.first}-L${lines.last}`;
}

function textType(path: string): string {
  return texts[extensionOf(path)] ?? "text/plain";
}

function extensionOf(path: string): string {
  return /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** Undefined for what is no text. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function linesOf(text: string, lines: Mention["lines"]): string {
  if (lines === undefined) return text;
  return text
    .split(/\r?\n/)
    .slice(lines.first - 1, lines.last)
    .join("\n");
}

export interface Mention {
  /** Where it begins and ends in the text, `@` included. */
  readonly start: number;
  readonly end: number;
  /** As it was written, without `@` and quotes. */
  readonly path: string;
  /** `@a.ts:10-40` means these lines, `@a.ts:10` this one; counted from 1. */
  readonly lines?: { readonly first: number; readonly last: number };
}

// After a letter or digit an @ belongs to an address.
const written = /(?<![\p{L}\p{N}_@./\\])@(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'`<>|]+))/gu;
const range = /^(.*[^:]):(\d{1,9})(?:-(\d{1,9}))?$/;
/** Punctuation that may follow a name. */
const punctuation = /[.,;:!?)\]}]+$/;

/** The candidates for each @, longest first: `@a.ts.` is the file `a.ts.` if there is one, else `a.ts`. */
export function findMentions(text: string): Mention[][] {
  return [...text.matchAll(written)].map((match) => {
    const quoted = match[1] ?? match[2];
    const start = match.index;
    if (quoted !== undefined) return [{ start, end: start + match[0].length, path: quoted }];
    const word = match[3] ?? "";
    const readings = [word, word.replace(punctuation, "")].filter(
      (each, at, all) => each !== "" && all.indexOf(each) === at,
    );
    return readings.flatMap((reading) => readingsOf(reading, start));
  });
}

function readingsOf(word: string, start: number): Mention[] {
  const end = start + 1 + word.length;
  const [, path, first, last = first] = range.exec(word) ?? [];
  const whole = { start, end, path: word };
  if (path === undefined) return [whole];
  const lines = { first: Number(first), last: Number(last) };
  return lines.first < 1 || lines.last < lines.first ? [whole] : [whole, { start, end, path, lines }];
}
