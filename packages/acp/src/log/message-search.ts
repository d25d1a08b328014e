// The text of messages, and the search for words in it.

import type { ContentBlock } from "../model/content.ts";
import { entryFormat, parseEntry } from "../model/entry-format.ts";
import type { StoredEntry, TextMatch } from "../model/store.ts";

/** Text of the user or the agent. */
export interface SpokenText {
  readonly text: string;
  /** Chunks of one message are searched as one text. */
  readonly messageId: string;
  readonly isChunk: boolean;
}

/** Whether an entry may have text of the user or the agent; thoughts, tools and plans are not searched. */
export function isSpoken({
  format,
  kind,
  tag,
}: Pick<StoredEntry, "format" | "kind"> & { readonly tag?: string | undefined }): boolean {
  // a later version wrote it, and only that version knows where its text is
  if (format > entryFormat) return false;
  return kind === "prompt" || kind === "inbox" || tag === "agent_message_chunk" || tag === "agent_message";
}

/** The text of the user or the agent in an entry. */
export function spokenText(stored: StoredEntry): SpokenText | undefined {
  if (!isSpoken(stored)) return undefined;
  const entry = parseEntry(stored);
  if (entry.kind === "prompt" || entry.kind === "inbox") return spoken(entry.prompt, entry.messageId, false);
  if (entry.kind !== "update") return undefined;
  const { update } = entry;
  if (update.sessionUpdate === "agent_message_chunk") {
    // as: an update with a known tag has been decoded
    return spoken([update.content as ContentBlock], String(update.messageId), true);
  }
  if (update.sessionUpdate !== "agent_message") return undefined;
  // as: likewise
  return spoken((update.content ?? []) as readonly ContentBlock[], String(update.messageId), false);
}

function spoken(
  blocks: readonly ContentBlock[],
  messageId: string,
  isChunk: boolean,
): SpokenText | undefined {
  const texts = blocks.flatMap((block) =>
    block.type === "text" && typeof block.text === "string" ? [block.text] : [],
  );
  const text = texts.join("\n");
  return text === "" ? undefined : { text, messageId, isChunk };
}

/** Words that must follow each other. */
export interface SearchTerm {
  readonly words: readonly string[];
  /** Whether the last word may be the beginning of a longer word. */
  readonly isPrefix: boolean;
}

/** The terms of a query: words and "quoted words". The last one may be a prefix, unless it is quoted. */
export function searchTerms(query: string): SearchTerm[] {
  const terms = [...query.matchAll(/"([^"]*)"|([^\s"]+)/g)];
  return terms
    .map(([, phrase, word], at) => ({
      words: wordsOf(phrase ?? word ?? "").map(({ word: each }) => each),
      isPrefix: phrase === undefined && at === terms.length - 1,
    }))
    .filter(({ words }) => words.length > 0);
}

const snippetWords = 16;

/** The last message that has all the terms. Undefined without a term. */
export function messageMatch(
  entries: readonly StoredEntry[],
  terms: readonly SearchTerm[],
): TextMatch | undefined {
  if (terms.length === 0) return undefined;
  for (const { seq, text } of messagesOf(entries).reverse()) {
    const words = wordsOf(text);
    const places = terms.map((term) => placeOf(words, term));
    const first = Math.min(...places);
    if (first < 0) continue;
    const from = Math.max(0, first - 4);
    const start = words[from]?.at ?? 0;
    const end = words[from + snippetWords]?.at ?? text.length;
    const snippet = `${from > 0 ? "…" : ""}${text.slice(start, end).trimEnd()}${end < text.length ? "…" : ""}`;
    return { seq, snippet: snippet.replaceAll(/\s+/g, " ") };
  }
  return undefined;
}

/** Joins the chunks of messages. */
function messagesOf(entries: readonly StoredEntry[]): { seq: number; text: string; chunkOf?: string }[] {
  const messages: { seq: number; text: string; chunkOf?: string }[] = [];
  for (const entry of entries) {
    const found = spokenText(entry);
    if (found === undefined) continue;
    const last = messages.at(-1);
    const { text, messageId, isChunk } = found;
    if (isChunk && last?.chunkOf === messageId) last.text += text;
    else messages.push({ seq: entry.seq, text, ...(isChunk ? { chunkOf: messageId } : {}) });
  }
  return messages;
}

interface Word {
  readonly word: string;
  readonly at: number;
}

/** Without case and accents. */
function wordsOf(text: string): Word[] {
  return [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map(({ 0: word, index: at }) => ({
    word: word.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase(),
    at,
  }));
}

/** Where the term begins; -1 if it is not there. */
function placeOf(text: readonly Word[], { words, isPrefix }: SearchTerm): number {
  return text.findIndex((_, at) =>
    words.every((word, n) => {
      const found = text[at + n]?.word;
      return n === words.length - 1 && isPrefix ? found?.startsWith(word) : found === word;
    }),
  );
}
