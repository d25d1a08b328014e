// Content that a terminal cannot show: named, so that it can be opened.

import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@parley/acp";
import { extensionIn, nameKey } from "@parley/acp/extensions";
import { safeLine } from "../terminal/sanitise.ts";
import { shortened } from "./short-path.ts";

/** What a placeholder stands for. */
export interface Attachment {
  /** Its number within the item, from 1. */
  readonly number: number;
  readonly what: "image" | "audio" | "resource" | "link";
  readonly mimeType: string | undefined;
  /** Base64, or text of a resource. Absent if only its address is known. */
  readonly data?: string;
  readonly text?: string;
  readonly uri?: string;
}

const longestName = 120;

/** Content that can be opened, in order. The numbers are those of the placeholders. */
export function attachmentsOf(blocks: readonly ContentBlock[]): Attachment[] {
  const others = blocks.filter(({ type }) => type !== "text");
  return others.flatMap((block, at) => attachmentOf(block, at + 1) ?? []);
}

function attachmentOf(block: ContentBlock, number: number): Attachment | undefined {
  // the type is open: a block of a known type may come from a newer peer
  const { type, data, uri, mimeType, resource } = block as Readonly<Record<string, unknown>>;
  const shared = { number, mimeType: stringOr(mimeType) };
  switch (type) {
    case "image":
    case "audio":
      return { ...shared, what: type, ...given("data", data), ...given("uri", uri) };
    case "resource_link":
      return { ...shared, what: "link", ...given("uri", uri) };
    case "resource": {
      const inner = (resource ?? {}) as Readonly<Record<string, unknown>>; // whatever it is
      const { text, blob, uri: address, mimeType: kind } = inner;
      const contents = { ...given("text", text), ...given("data", blob), ...given("uri", address) };
      return { number, what: "resource", mimeType: stringOr(kind), ...contents };
    }
    default:
      return undefined;
  }
}

/** One line, such as `[image 1: image/png, 34 KB]`. `number` counts the attachments of the item. */
export function placeholder(block: ContentBlock, number: number): string {
  const attachment = attachmentOf(block, number);
  if (attachment === undefined) return `[${shortLine(block.type)}]`;
  const { what, mimeType, data, text, uri } = attachment;
  const { title, name, size } = block as Readonly<Record<string, unknown>>; // of a link
  const bytes = data !== undefined ? decodedSize(data) : text !== undefined ? text.length : Number(size);
  const facts = [
    ...[title, name].filter((each) => typeof each === "string" && each !== "").slice(0, 1),
    mimeType,
    uri,
    Number.isFinite(bytes) && bytes >= 0 ? sizeText(bytes) : undefined,
  ].filter((each): each is string => typeof each === "string" && each !== "");
  return `[${what} ${number}: ${facts.map(shortLine).join(", ")}]`;
}

/** A part of a prompt in words: "attached src/numbers.ts:10-12", "told: 1 change taken back". Undefined for any other. */
export function attachedName(block: ContentBlock, cwd?: string): string | undefined {
  const { _meta: meta } = block as { readonly _meta?: Readonly<Record<string, unknown>> | null }; // an open type
  const name = extensionIn(meta, nameKey);
  if (typeof name === "string") return `told: ${shortLine(name)}`;
  const { what, uri } = attachmentOf(block, 0) ?? {};
  if (uri === undefined || (what !== "resource" && what !== "link")) return undefined;
  if (uri.startsWith("attached:")) return "attached text";
  const path = pathOf(uri);
  if (path === undefined) return undefined;
  const [, first, last = first] = /#L(\d{1,9})(?:-L(\d{1,9}))?$/.exec(uri) ?? [];
  const lines = first === undefined ? "" : first === last ? `:${first}` : `:${first}-${last}`;
  return `attached ${shortLine(cwd === undefined ? path : shortened(path, cwd))}${lines}`;
}

/** Undefined for what is no file of this machine. */
function pathOf(uri: string): string | undefined {
  if (!uri.startsWith("file:")) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function given<Name extends string>(name: Name, value: unknown): { [Key in Name]?: string } {
  // as: the name is the key
  return (typeof value === "string" ? { [name]: value } : {}) as { [Key in Name]?: string };
}

function stringOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function shortLine(text: string): string {
  const line = safeLine(text.slice(0, 2 * longestName));
  return line.length <= longestName ? line : `${line.slice(0, longestName).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Of base64, without decoding it. */
function decodedSize(data: string): number {
  return Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
}

const units = ["bytes", "KB", "MB", "GB", "TB"] as const;

export function sizeText(bytes: number): string {
  let size = Math.max(0, bytes);
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const shown = unit === 0 || size >= 10 ? Math.round(size) : size.toFixed(1);
  return `${shown} ${units[unit]}`;
}
