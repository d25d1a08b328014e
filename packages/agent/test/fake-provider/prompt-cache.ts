// The prompt caches of providers: Anthropic's, which needs marks, and OpenAI's, which compares beginnings.

import { createHash } from "node:crypto";
import type { WireMessage } from "./anthropic-wire.ts";

const charactersPerToken = 4;
/** A shorter beginning is not cached. */
const leastTokens = 1_024;
const mostMarks = 4;
/** How many blocks before a mark are looked up. */
const lookback = 20;

interface Block {
  readonly cache_control?: unknown;
  readonly [field: string]: unknown;
}

export interface AnthropicRequest {
  readonly tools?: readonly Block[];
  readonly system?: readonly Block[];
  readonly messages: readonly WireMessage[];
  readonly max_tokens: number;
  readonly thinking?: { readonly budget_tokens?: number };
}

export interface CacheCount {
  readonly read: number;
  readonly written: number;
  /** Neither read nor written. */
  readonly fresh: number;
}

/** Entries are written at marks, and found at a mark or in the blocks before it. */
export class MarkedCache {
  readonly #entries = new Set<string>();

  /** Throws where the API answers with 400. */
  count(request: AnthropicRequest): CacheCount {
    const blocks = blocksOf(request);
    const prefixes = prefixesOf(blocks.map(({ json }) => json));
    const marks = [...blocks.keys()].filter((i) => blocks[i]?.isMarked);
    if (marks.length > mostMarks) throw new Error(`at most ${mostMarks} cache marks, got ${marks.length}`);
    let read = 0;
    for (const mark of marks) {
      for (let i = mark; i > mark - lookback && i >= 0; i--) {
        const { hash, tokens } = prefixes[i] ?? none;
        if (this.#entries.has(hash)) read = Math.max(read, tokens);
      }
    }
    for (const mark of marks) {
      const { hash, tokens } = prefixes[mark] ?? none;
      if (tokens >= leastTokens) this.#entries.add(hash);
    }
    const all = prefixes.at(-1)?.tokens ?? 0;
    const marked = prefixes[marks.at(-1) ?? -1]?.tokens ?? 0;
    const written = marked >= leastTokens ? Math.max(0, marked - read) : 0;
    return { read, written, fresh: all - read - written };
  }
}

const none = { hash: "", tokens: 0 };

/** Tools come first, then the system prompt, then the messages. A changed thinking setting is a changed conversation. */
function blocksOf({ tools = [], system = [], messages, thinking }: AnthropicRequest) {
  const block = ({ cache_control, ...rest }: Block, more: object = {}) => ({
    json: JSON.stringify({ ...rest, ...more }),
    isMarked: cache_control !== undefined,
  });
  return [
    ...tools.map((tool) => block(tool)),
    ...system.map((part) => block(part)),
    ...messages.flatMap(({ role, content }) =>
      typeof content === "string"
        ? [block({ role, content, thinking })]
        : content.map((part) => block(part, { role, thinking })),
    ),
  ];
}

/** Compares beginnings in steps of 128 tokens, among the requests with the same key. */
export class PrefixCache {
  readonly #entries = new Set<string>();

  count(key: string, parts: readonly unknown[]): { readonly tokens: number; readonly cached: number } {
    const text = parts.map((part) => JSON.stringify(part)).join("\n");
    const size = 128 * charactersPerToken;
    const pieces = Array.from({ length: Math.floor(text.length / size) }, (_, i) =>
      text.slice(i * size, (i + 1) * size),
    );
    const prefixes = prefixesOf(pieces, key);
    const found = prefixes.findLast(({ hash }) => this.#entries.has(hash))?.tokens ?? 0;
    for (const { hash } of prefixes) this.#entries.add(hash);
    return { tokens: tokensOf(text), cached: found >= leastTokens ? found : 0 };
  }
}

/** The hash and the tokens of each beginning. */
function prefixesOf(
  parts: readonly string[],
  seed = "",
): { readonly hash: string; readonly tokens: number }[] {
  let hash = seed;
  let tokens = 0;
  return parts.map((part) => {
    hash = createHash("sha256").update(hash).update(part).digest("base64");
    tokens += tokensOf(part);
    return { hash, tokens };
  });
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}
