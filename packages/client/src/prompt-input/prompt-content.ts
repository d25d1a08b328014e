// A prompt from what a user typed, piped and named.

import { homedir } from "node:os";
import { resolve } from "node:path";
import type { ContentBlock } from "@parley/acp";
import { type AcceptedContent, fileBlock, mediaType } from "./mentioned-file.ts";
import { findMentions, type Mention } from "./mentions.ts";

export interface PromptInput {
  /** What the user wrote: `@file` in it is looked up. */
  readonly text: string;
  /** Text that the user did not write, such as what was piped in: nothing in it is looked up. */
  readonly attached?: readonly string[];
  /** Files to be shown whatever the text says: images, usually. */
  readonly files?: readonly string[];
}

export interface PromptTarget {
  /** Where names without a directory are. Absolute. */
  readonly cwd: string;
  readonly accepts: AcceptedContent;
}

export interface PromptBlocks {
  readonly content: readonly ContentBlock[];
  /** What the user should know: a file that the agent gets as a link although it was to be shown. */
  readonly notes: readonly string[];
}

/** Something that was named on purpose cannot be read. */
export class PromptInputError extends Error {}

/**
 * The blocks of a prompt. The text stays as it was written; the files that it mentions follow it, each once: embedded
 * where the agent takes that and they are small, else as links. What names no file stays text.
 */
export async function promptContent(input: PromptInput, target: PromptTarget): Promise<PromptBlocks> {
  const { cwd, accepts } = target;
  const texts = [input.text, ...(input.attached ?? [])].filter((text) => text.trim() !== "");
  const blocks = new Map<string, ContentBlock>();
  const notes: string[] = [];
  for (const name of input.files ?? []) {
    const path = absolute(name, cwd);
    const block = await fileBlock(path, accepts);
    if (block === undefined) throw new PromptInputError(`${name} is no file that can be read`);
    if (block.type === "resource_link") notes.push(linkNote(name));
    blocks.set(path, block);
  }
  for (const readings of findMentions(input.text)) {
    const found = await lookUp(readings, cwd, accepts);
    if (found !== undefined && !blocks.has(found.key)) blocks.set(found.key, found.block);
  }
  const text = texts.join("\n\n");
  return { content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...blocks.values()], notes };
}

async function lookUp(
  readings: readonly Mention[],
  cwd: string,
  accepts: AcceptedContent,
): Promise<{ readonly key: string; readonly block: ContentBlock } | undefined> {
  for (const { path, lines } of readings) {
    const file = absolute(path, cwd);
    const block = await fileBlock(file, accepts, lines);
    if (block !== undefined) return { key: `${file}${lines ? `:${lines.first}-${lines.last}` : ""}`, block };
  }
  return undefined;
}

function absolute(path: string, cwd: string): string {
  return path.startsWith("~/") ? resolve(homedir(), path.slice(2)) : resolve(cwd, path);
}

function linkNote(name: string): string {
  const what = mediaType(name)?.split("/")[0] ?? "file";
  return `${name} goes to the agent as a link: it takes no ${what} of this kind or size in a prompt`;
}
