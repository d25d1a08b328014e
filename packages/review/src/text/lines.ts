// Lines of files, byte for byte: each byte is one character (latin1), so that any file survives being split and joined.

import { diffArrays } from "diff";

/** Above this many changed lines, the changed middle of a file counts as replaced. It bounds the time of a comparison. */
const maxEdits = 4000;

/** The lines with their endings. The last may have none. */
export function splitLines(content: Buffer): string[] {
  const text = content.toString("latin1");
  const lines: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    const next = end < 0 ? text.length : end + 1;
    lines.push(text.slice(start, next));
    start = next;
  }
  return lines;
}

export function joinLines(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join(""), "latin1");
}

/** A step from one list of lines to another. `removed` comes before `added` at the same place. */
export interface DiffStep {
  readonly kind: "same" | "removed" | "added";
  readonly count: number;
}

export function compareLines(before: readonly string[], after: readonly string[]): DiffStep[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const middle = compareMiddle(
    before.slice(head, before.length - tail),
    after.slice(head, after.length - tail),
  );
  const steps: DiffStep[] = [{ kind: "same", count: head }, ...middle, { kind: "same", count: tail }];
  return steps.filter(({ count }) => count > 0);
}

function compareMiddle(before: string[], after: string[]): DiffStep[] {
  const replaced: DiffStep[] = [
    { kind: "removed", count: before.length },
    { kind: "added", count: after.length },
  ];
  if (before.length === 0 || after.length === 0) return replaced;
  const found = diffArrays(before, after, { maxEditLength: maxEdits });
  if (found === undefined) return replaced;
  const steps: DiffStep[] = [];
  let waiting = 0; // added lines that stand before removed ones
  for (const { added, removed, value } of found) {
    if (added) {
      waiting += value.length;
      continue;
    }
    if (!removed && waiting > 0) steps.push({ kind: "added", count: waiting });
    if (!removed) waiting = 0;
    steps.push({ kind: removed ? "removed" : "same", count: value.length });
  }
  if (waiting > 0) steps.push({ kind: "added", count: waiting });
  return steps;
}
