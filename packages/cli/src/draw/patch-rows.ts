// Reads a patch as rows. A broken patch is read as far as it makes sense; no line of it is left out.

import { gitPatch, type ToolCallItem } from "@parley/acp/view";
import { escapedSource } from "../terminal/sanitise.ts";
import { sourceLines, untabbed } from "./text-lines.ts";

export type DiffPart = Extract<ToolCallItem["content"][number], { type: "diff" }>;

export interface PatchRow {
  /** "file" names a file, "hunk" is a header, "note" is any other line of the patch. */
  readonly kind: "file" | "hunk" | "context" | "added" | "removed" | "note";
  readonly text: string;
  /** The number of the line before and after the change. */
  readonly old?: number;
  readonly now?: number;
}

/** The change as a patch. Undefined if only the names of files are known. */
export function patchOf(diff: DiffPart): string | undefined {
  return diff.path !== undefined && diff.newText !== undefined
    ? gitPatch("file", diff.oldText ?? undefined, diff.newText)
    : diff.patch?.text;
}

const read = new WeakMap<DiffPart, readonly PatchRow[]>();

/** Content of a tool call does not change: it is replaced. */
export function diffRows(diff: DiffPart): readonly PatchRow[] {
  const known = read.get(diff);
  if (known !== undefined) return known;
  const rows = patchRows(patchOf(diff) ?? "");
  read.set(diff, rows);
  return rows;
}

/** `isWhole`: very long lines are not shortened, and nothing is left out of them. */
export function patchRows(patch: string, isWhole = false): PatchRow[] {
  const rows: PatchRow[] = [];
  const place = { old: 0, now: 0, oldLeft: 0, nowLeft: 0 };
  let oldName = "";
  const text = escapedSource(String(patch)).replace(/\n+$/, "");
  const lines = isWhole ? text.split("\n").map(untabbed) : sourceLines(text);
  for (const [at, line] of lines.entries()) {
    const isInside = place.oldLeft > 0 || place.nowLeft > 0;
    const [, oldFrom, oldCount = "1", nowFrom, nowCount = "1"] =
      /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line) ?? [];
    if (oldFrom !== undefined && !/^[ +-]/.test(line)) {
      Object.assign(place, { old: Number(oldFrom), now: Number(nowFrom) });
      Object.assign(place, { oldLeft: Number(oldCount), nowLeft: Number(nowCount) });
      rows.push({ kind: "hunk", text: line });
    } else if (!isInside && line.startsWith("--- ")) oldName = nameOf(line);
    else if (!isInside && line.startsWith("+++ ")) {
      addFile(rows, changedName(oldName, nameOf(line)));
    } else if (!isInside && line.startsWith("diff --git ")) {
      if (!isNamedBelow(lines, at)) addFile(rows, line.slice("diff --git ".length));
    } else if (!isInside && line.startsWith("index ")) continue;
    else if (!isInside && /^(?:new|deleted) file mode /.test(line))
      rows.push({ kind: "note", text: line.replace(/ mode 100644$/, "") });
    else if (line.startsWith("\\")) rows.push({ kind: "note", text: line });
    else rows.push(changeRow(line, place));
  }
  return rows;
}

function changeRow(
  line: string,
  place: { old: number; now: number; oldLeft: number; nowLeft: number },
): PatchRow {
  const [sign, text] = [line.slice(0, 1), line.slice(1)];
  if (sign === "+") {
    place.nowLeft -= 1;
    return { kind: "added", text, now: place.now++ };
  }
  if (sign === "-") {
    place.oldLeft -= 1;
    return { kind: "removed", text, old: place.old++ };
  }
  // some programs drop the blank of an empty line
  if (sign !== " " && !(line === "" && place.nowLeft > 0)) return { kind: "note", text: line };
  place.oldLeft -= 1;
  place.nowLeft -= 1;
  return { kind: "context", text, old: place.old++, now: place.now++ };
}

/** "new file" stands below the name. That a file is deleted is said beside it. */
function addFile(rows: PatchRow[], text: string): void {
  const { kind, text: before = "" } = rows.at(-1) ?? {};
  const isNote = kind === "note" && /^(?:new|deleted) file$/.test(before);
  const below = isNote ? rows.splice(-1) : [];
  rows.push({ kind: "file", text }, ...(text.endsWith(deleted) ? [] : below));
}

/** Behind the name of a file that is gone. */
export const deleted = " (deleted)";

/** The lines before the first hunk of a file. */
const mostHeaders = 12;

/** Of a change without lines, such as that of a mode, only the first line names the file. */
function isNamedBelow(lines: readonly string[], at: number): boolean {
  const next = lines.slice(at + 1, at + mostHeaders).find((line) => /^(?:diff --git |\+\+\+ )/.test(line));
  return next?.startsWith("+++ ") === true;
}

function changedName(old: string, now: string): string {
  if (now === "/dev/null") return `${old}${deleted}`;
  return old === "" || old === "/dev/null" || old === now ? now : `${old} → ${now}`;
}

/** Git writes a or b before a name. */
function nameOf(line: string): string {
  return line
    .slice(4)
    .replace(/\t.*$/, "")
    .replace(/^[ab]\//, "");
}

export interface ChangeCount {
  readonly added: number;
  readonly removed: number;
}

export function changeCount(content: ToolCallItem["content"]): ChangeCount {
  let [added, removed] = [0, 0];
  for (const part of content) {
    if (part.type !== "diff") continue;
    for (const { kind } of diffRows(part as DiffPart)) {
      if (kind === "added") added += 1;
      else if (kind === "removed") removed += 1;
    }
  }
  return { added, removed };
}
