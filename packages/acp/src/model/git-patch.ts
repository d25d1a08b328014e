// Creates a git patch from two texts.

import { optional } from "../base/objects.ts";
import type { Diff } from "./update.ts";

const context = 3;
/** Beyond so many differences a minimal script is not worth its time: the changed block is replaced whole. */
const maxEdits = 1_000;

/** One file's change as both versions say it: version 1 by its texts, version 2 by a patch. */
export function textDiff({ path, oldText, newText }: TextChange): Diff {
  return {
    path,
    newText,
    ...optional({ oldText }),
    changes: [{ operation: oldText === undefined ? "add" : "modify", path, fileType: "text" }],
    patch: { format: "git_patch", text: gitPatch(path, oldText, newText) },
  };
}

interface TextChange {
  readonly path: string;
  /** Absent for a new file. */
  readonly oldText?: string | undefined;
  readonly newText: string;
}

/** The patch that turns `oldText` into `newText`; undefined stands for a file that does not exist. */
export function gitPatch(path: string, oldText: string | undefined, newText: string | undefined): string {
  const before = linesOf(oldText);
  const after = linesOf(newText);
  const name = quotedName(path);
  const header = [
    `diff --git ${name} ${name}`,
    ...(oldText === undefined ? ["new file mode 100644"] : []),
    ...(newText === undefined ? ["deleted file mode 100644"] : []),
    `--- ${oldText === undefined ? "/dev/null" : name}`,
    `+++ ${newText === undefined ? "/dev/null" : name}`,
  ];
  const body = hunks(edits(before, after));
  return body.length === 0 ? "" : `${[...header, ...body].join("\n")}\n`;
}

const escapes: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\t": "\\t",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** As git writes names that would be read as something else: a line end in one must not begin a line of the patch. */
function quotedName(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const special = /[\u0000-\u001f"\\\u007f]/g;
  if (!special.test(path)) return path;
  const quoted = path.replace(
    special,
    (each) => escapes[each] ?? `\\${each.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `"${quoted}"`;
}

interface Edit {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/** Lines with their ends; a last line without one is marked as git marks it. */
function linesOf(text: string | undefined): string[] {
  if (text === undefined || text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else lines[lines.length - 1] += "\n\\ No newline at end of file";
  return lines;
}

function edits(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++;
  }
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ sign: " ", line }));
  return [
    ...same(before.slice(0, start)),
    ...shortest(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** Myers' greedy search: the furthest point on each diagonal, one more edit at a time. */
function shortest(before: readonly string[], after: readonly string[]): Edit[] {
  const limit = Math.min(before.length + after.length, maxEdits);
  const trace: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= limit; d++) {
    trace.push(furthest);
    const next = new Map(furthest);
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (furthest.get(k - 1) ?? 0) < (furthest.get(k + 1) ?? 0));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      next.set(k, x);
      if (x >= before.length && x - k >= after.length) return walkBack(before, after, trace);
    }
    furthest = next;
  }
  const removed: Edit[] = before.map((line) => ({ sign: "-", line }));
  return [...removed, ...after.map((line): Edit => ({ sign: "+", line }))];
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly ReadonlyMap<number, number>[],
): Edit[] {
  const script: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d] ?? new Map();
    const k = x - y;
    const down = k === -d || (k !== d && (furthest.get(k - 1) ?? 0) < (furthest.get(k + 1) ?? 0));
    const previousK = down ? k + 1 : k - 1;
    const previousX = furthest.get(previousK) ?? 0;
    const previousY = previousX - previousK;
    while (x > previousX && y > previousY && x > 0 && y > 0) {
      x--;
      y--;
      script.push({ sign: " ", line: before[x] ?? "" });
    }
    if (d === 0) break;
    if (down) script.push({ sign: "+", line: after[--y] ?? "" });
    else script.push({ sign: "-", line: before[--x] ?? "" });
  }
  return script.reverse();
}

/** Groups of changes with three lines around them. */
function hunks(script: readonly Edit[]): string[] {
  const output: string[] = [];
  const changed = script.flatMap(({ sign }, i) => (sign === " " ? [] : [i]));
  for (let at = 0; at < changed.length; ) {
    const first = changed[at] ?? 0;
    let last = first;
    while (at < changed.length && (changed[at] ?? 0) - last <= 2 * context) last = changed[at++] ?? last;
    const from = Math.max(0, first - context);
    const to = Math.min(script.length, last + context + 1);
    output.push(hunkHeader(script, from, to), ...script.slice(from, to).map(({ sign, line }) => sign + line));
  }
  return output;
}

function hunkHeader(script: readonly Edit[], from: number, to: number): string {
  const count = (edits: readonly Edit[], without: string) =>
    edits.filter(({ sign }) => sign !== without).length;
  const range = (without: "+" | "-") => {
    const start = count(script.slice(0, from), without);
    const length = count(script.slice(from, to), without);
    return `${length === 0 ? start : start + 1},${length}`;
  };
  return `@@ -${range("+")} +${range("-")} @@`;
}
