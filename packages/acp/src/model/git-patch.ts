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

/**
 * Returns the patch that turns `oldText` into `newText`. Undefined stands for a file that does not exist.
 *
 * @example
 * import { gitPatch } from "@parley/acp/view";
 *
 * console.log(gitPatch("notes.txt", "one\n", "one\ntwo\n"));
 */
export function gitPatch(path: string, oldText: string | undefined, newText: string | undefined): string {
  const body = hunks(edits(linesOf(oldText), linesOf(newText)));
  if (body === "") return "";
  const name = quotedName(path);
  const mode =
    oldText === undefined
      ? "new file mode 100644\n"
      : newText === undefined
        ? "deleted file mode 100644\n"
        : "";
  const before = oldText === undefined ? "/dev/null" : name;
  const after = newText === undefined ? "/dev/null" : name;
  return `diff --git ${name} ${name}\n${mode}--- ${before}\n+++ ${after}\n${body}`;
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

/** A line behind its sign: a space, a minus or a plus. */
type Edit = string;

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
  const left = Math.max(0, start - context);
  const behind = before.length - end;
  const script: Edit[] = [];
  addLines(script, " ", before, left, start);
  for (const edit of shortest(before.slice(start, behind), after.slice(start, after.length - end)))
    script.push(edit);
  addLines(script, " ", before, behind, Math.min(behind + context, before.length));
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
  const script: Edit[] = [];
  addLines(script, "-", before, 0, before.length);
  addLines(script, "+", after, 0, after.length);
  return script;
}

function addLines(script: Edit[], sign: string, lines: readonly string[], from: number, to: number): void {
  for (let at = from; at < to; at++) script.push(sign + lines[at]);
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
      script.push(` ${before[x]}`);
    }
    if (d === 0) break;
    if (down) script.push(`+${after[--y]}`);
    else script.push(`-${before[--x]}`);
  }
  return script.reverse();
}

/** Groups of changes with three lines around them. */
function hunks({ left, script }: ReturnType<typeof edits>): string {
  let output = "";
  // the lines of both sides before the hunk
  let old = left;
  let now = left;
  let end = 0;
  for (let first = changeFrom(script, 0); first < script.length; first = changeFrom(script, end)) {
    let last = first;
    for (let next = first; next < script.length && next - last <= 2 * context; ) {
      last = next;
      next = changeFrom(script, next + 1);
    }
    const from = Math.max(0, first - context);
    // the lines between two hunks are equal
    old += from - end;
    now += from - end;
    end = Math.min(script.length, last + context + 1);
    let removed = 0;
    let added = 0;
    let lines = "";
    for (let at = from; at < end; at++) {
      const line = script[at] ?? "";
      if (!line.startsWith("+")) removed++;
      if (!line.startsWith("-")) added++;
      lines += `${line}\n`;
    }
    output += `@@ -${range(old, removed)} +${range(now, added)} @@\n${lines}`;
    old += removed;
    now += added;
  }
  return output;
}

/** The next changed line at or behind `at`. */
function changeFrom(script: readonly Edit[], at: number): number {
  let next = at;
  while (next < script.length && script[next]?.startsWith(" ")) next++;
  return next;
}

/** The lines of one side: the first one, counted from 1, and how many. */
function range(before: number, count: number): string {
  return `${count === 0 ? before : before + 1},${count}`;
}
