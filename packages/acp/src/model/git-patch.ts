// Creates a git patch from two texts.

import { optional } from "../base/objects.ts";
import type { Diff } from "./update.ts";

const context = 3;
/** Beyond so many differences a minimal script is not worth its time: the changed block is replaced whole. */
const maxEdits = 1_000;
/** The same for long texts whose lines repeat: about 10 ms of work. */
const maxSteps = 4_000_000;

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

/** The changed lines with those around them, and how many equal lines before them were left out. */
function edits(before: readonly string[], after: readonly string[]): { left: number; script: Edit[] } {
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
  const left = Math.max(0, start - context);
  const behind = before.length - end;
  const script = same(before.slice(left, start));
  for (const edit of shortest(before.slice(start, behind), after.slice(start, after.length - end)))
    script.push(edit);
  for (const edit of same(before.slice(behind, behind + context))) script.push(edit);
  return { left, script };
}

/** Myers' greedy search: the furthest point on each diagonal, one more edit at a time. */
function shortest(before: readonly string[], after: readonly string[]): Edit[] {
  // no line is the same: nothing to search for
  if (before.length * after.length <= 1) return replaced(before, after);
  const [old, now] = numbered(before, after);
  const limit = Math.min(old.length + now.length, maxEdits);
  const middle = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  let steps = 0;
  for (let d = 0; d <= limit && steps <= maxSteps; d++) {
    // only diagonals up to d + 1 are read later
    trace.push(furthest.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const left = furthest[middle + k - 1] ?? 0;
      const right = furthest[middle + k + 1] ?? 0;
      const from = k === -d || (k !== d && left < right) ? right : left + 1;
      let x = from;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      furthest[middle + k] = x;
      steps += 1 + x - from;
      if (x >= old.length && x - k >= now.length) return walkBack(before, after, trace);
    }
  }
  return replaced(before, after);
}

function replaced(before: readonly string[], after: readonly string[]): Edit[] {
  const removed: Edit[] = before.map((line) => ({ sign: "-", line }));
  return [...removed, ...after.map((line): Edit => ({ sign: "+", line }))];
}

/** Lines as numbers, equal ones the same, so that comparing them costs the same however long they are. */
function numbered(before: readonly string[], after: readonly string[]): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const numberOf = (line: string) => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  return [Int32Array.from(before, numberOf), Int32Array.from(after, numberOf)];
}

function walkBack(before: readonly string[], after: readonly string[], trace: readonly Int32Array[]): Edit[] {
  const script: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d] ?? new Int32Array();
    const at = (k: number) => furthest[k + d + 1] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const previousK = down ? k + 1 : k - 1;
    const previousX = at(previousK);
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
function hunks({ left, script }: ReturnType<typeof edits>): string[] {
  const output: string[] = [];
  const changed: number[] = [];
  for (const [at, { sign }] of script.entries()) if (sign !== " ") changed.push(at);
  // the lines of both sides before the hunk
  const passed = { old: left, now: left };
  let end = 0;
  const pass = (to: number) => {
    for (; end < to; end++) {
      if (script[end]?.sign !== "+") passed.old++;
      if (script[end]?.sign !== "-") passed.now++;
    }
  };
  for (let at = 0; at < changed.length; ) {
    const first = changed[at] ?? 0;
    let last = first;
    while (at < changed.length && (changed[at] ?? 0) - last <= 2 * context) last = changed[at++] ?? last;
    const from = Math.max(0, first - context);
    const to = Math.min(script.length, last + context + 1);
    pass(from);
    const { old, now } = passed;
    pass(to);
    output.push(`@@ -${range(old, passed.old)} +${range(now, passed.now)} @@`);
    for (const { sign, line } of script.slice(from, to)) output.push(sign + line);
  }
  return output;
}

/** The lines of one side: the first one, counted from 1, and how many. */
function range(start: number, end: number): string {
  return `${end === start ? start : start + 1},${end - start}`;
}
