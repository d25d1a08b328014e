// Derives the old and the new text of a file from a git patch.

interface Hunk {
  /** Lines with their ends: of both sides, of the old one only, of the new one only. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** 1-based lines where each side begins. */
  readonly oldStart: number;
  readonly newStart: number;
}

export interface PatchedTexts {
  /** Undefined for a file that did not exist. */
  readonly oldText: string | undefined;
  /** Undefined for a file that does not exist any more. */
  readonly newText: string | undefined;
  /** Only the lines around the change are known. */
  readonly isPartial: boolean;
}

/**
 * The texts before and after, of the file that is named so in the patch. `current` is the file as it is now, which
 * may be before or after the change. Undefined where the patch has nothing readable on the file.
 */
export function textsFromPatch(
  patch: string,
  path: string,
  current: string | undefined,
): PatchedTexts | undefined {
  const part = partOf(patch, path);
  if (part === undefined) return undefined;
  const { hunks, isNew, isGone } = part;
  if (hunks.length === 0) return undefined;
  const before = hunks.flatMap((hunk) => hunk.before).join("");
  const after = hunks.flatMap((hunk) => hunk.after).join("");
  // a patch of a whole file has all of it
  if (isNew) return { oldText: undefined, newText: after, isPartial: false };
  if (isGone) return { oldText: before, newText: undefined, isPartial: false };
  if (current !== undefined) {
    const newText = replaced(current, hunks, (hunk) => [hunk.oldStart, hunk.before, hunk.after]);
    if (newText !== undefined) return { oldText: current, newText, isPartial: false };
    const oldText = replaced(current, hunks, (hunk) => [hunk.newStart, hunk.after, hunk.before]);
    if (oldText !== undefined) return { oldText, newText: current, isPartial: false };
  }
  return { oldText: before, newText: after, isPartial: true };
}

function partOf(patch: string, path: string): { hunks: Hunk[]; isNew: boolean; isGone: boolean } | undefined {
  // git's own prefixes are taken as well as the bare names that the protocol asks for
  const names = new Set([path, `a/${path}`, `b/${path}`, `a${path}`, `b${path}`]);
  const lines = patch.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const from = lines[at];
    const to = lines[at + 1];
    if (!from?.startsWith("--- ") || !to?.startsWith("+++ ")) continue;
    const [oldName, newName] = [nameIn(from), nameIn(to)];
    if (!names.has(oldName) && !names.has(newName)) continue;
    return {
      hunks: hunksFrom(lines, at + 2),
      isNew: oldName === "/dev/null",
      isGone: newName === "/dev/null",
    };
  }
  return undefined;
}

function nameIn(header: string): string {
  return header.slice(4).replace(/\t.*$/, "");
}

/** Nothing where a hunk cannot be read: a part of a change would be a wrong change. */
function hunksFrom(lines: readonly string[], start: number): Hunk[] {
  const hunks: Hunk[] = [];
  let at = start;
  for (;;) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[at] ?? "");
    if (header === null) return hunks;
    const [, oldStart, oldCount = "1", newStart, newCount = "1"] = header;
    const sides = sidesFrom(lines, at + 1, Number(oldCount), Number(newCount));
    if (sides === undefined) return [];
    at = sides.end;
    hunks.push({ ...sides, oldStart: Number(oldStart), newStart: Number(newStart) });
  }
}

function sidesFrom(
  lines: readonly string[],
  start: number,
  oldCount: number,
  newCount: number,
): { before: string[]; after: string[]; end: number } | undefined {
  const before: string[] = [];
  const after: string[] = [];
  let at = start;
  while (before.length < oldCount || after.length < newCount) {
    const line = lines[at++];
    if (line === undefined) return undefined;
    const isBare = lines[at]?.startsWith("\\") === true;
    if (isBare) at++;
    // a line that is empty in the file may have lost its blank on the way
    const sign = line[0] ?? " ";
    const text = line.slice(1) + (isBare ? "" : "\n");
    if (!" -+".includes(sign)) return undefined;
    if (sign !== "+") before.push(text);
    if (sign !== "-") after.push(text);
  }
  return { before, after, end: at };
}

/** The text with every hunk exchanged, or nothing where one does not fit where it says. */
function replaced(
  text: string,
  hunks: readonly Hunk[],
  sides: (hunk: Hunk) => readonly [start: number, found: readonly string[], wanted: readonly string[]],
): string | undefined {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const output: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const [start, found, wanted] = sides(hunk);
    const index = found.length === 0 ? start : start - 1;
    if (index < at || found.some((line, i) => lines[index + i] !== line)) return undefined;
    output.push(...lines.slice(at, index), ...wanted);
    at = index + found.length;
  }
  output.push(...lines.slice(at));
  return output.join("");
}
