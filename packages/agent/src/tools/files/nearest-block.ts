// Finds the lines most similar to a text that was not found, to help the model correct an edit.

import { toAscii } from "./text-match.ts";

const maxComparisons = 2_000_000;
const maxShownLines = 30;

export interface Block {
  /** 1-based. */
  readonly from: number;
  readonly lines: readonly string[];
}

/** Undefined when no lines are similar. */
export function nearestBlock(text: string, wanted: string): Block | undefined {
  const lines = text.split(/\r?\n/);
  const keys = lines.map(keyOf);
  const sought = wanted.split(/\r?\n/).map(keyOf);
  while (sought.length > 1 && sought[0] === "") sought.shift();
  while (sought.length > 1 && sought.at(-1) === "") sought.pop();
  const size = Math.min(sought.length, lines.length, Math.max(1, Math.floor(maxComparisons / lines.length)));
  let best = { score: 0, at: 0 };
  for (let at = 0; at + size <= lines.length; at += 1) {
    let score = 0;
    for (let i = 0; i < size; i += 1) score += likeness(keys[at + i] ?? "", sought[i] ?? "");
    if (score > best.score) best = { score, at };
  }
  // at least a third of the lines in common
  if (best.score < size / 3) return undefined;
  return { from: best.at + 1, lines: lines.slice(best.at, best.at + Math.min(size, maxShownLines)) };
}

function keyOf(line: string): string {
  return [...line].map(toAscii).join("").trim().replace(/\s+/g, " ");
}

/** The share of common words, from 0 to 1; 0 for an empty line. */
function likeness(one: string, other: string): number {
  if (one === "" || other === "") return 0;
  if (one === other) return 1;
  const words = new Set(one.match(/\w+/g) ?? []);
  const others = other.match(/\w+/g) ?? [];
  if (words.size === 0 || others.length === 0) return 0;
  const common = others.filter((word) => words.has(word)).length;
  return (common / Math.max(words.size, others.length)) * 0.9;
}
