// The changes of many files, as they are shown.

import { join } from "node:path";
import { shownPath } from "../files/version.ts";
import { draftFile, type FileDraft, type View } from "./drafts.ts";
import { type FileLedger, versionOfBody } from "./file-ledger.ts";
import type { Changes, FileChange, Hunk } from "./review-types.ts";

/** A hunk that was kept or undone, as it was shown last. */
export interface DoneHunk {
  readonly file: FileLedger;
  readonly hunk: Hunk;
}

/** A file with its hunks, before it is shown. */
export interface Drafted extends FileDraft {
  readonly file: FileLedger;
}

export function draftFiles(files: Iterable<FileLedger>, view: View): Drafted[] {
  const drafted: Drafted[] = [];
  for (const file of files) {
    const draft = draftFile(file, view);
    if (draft.drafts.length > 0) drafted.push({ file, ...draft });
  }
  return drafted;
}

export function fullPath({ root, path }: FileLedger): string {
  return join(root, shownPath(path));
}

export function changeList(drafted: readonly Drafted[], done: readonly DoneHunk[]): Changes {
  const renames = renamesOf(drafted);
  const byFile = new Map<FileLedger, { kind: FileChange["kind"]; hunks: Hunk[] }>();
  for (const { file, kind, drafts } of drafted)
    byFile.set(file, { kind, hunks: drafts.map(({ hunk }) => hunk) });
  for (const { file, hunk } of done) {
    const entry = byFile.get(file) ?? { kind: "changed" as const, hunks: [] };
    entry.hunks.push(hunk);
    byFile.set(file, entry);
  }
  const files = Array.from(byFile, ([file, { kind, hunks }]): FileChange => {
    const standing = hunks.filter(({ state }) => state !== "kept" && state !== "undone");
    const from = renames.get(file);
    return {
      path: fullPath(file),
      kind,
      renamedFrom: from === undefined ? undefined : fullPath(from),
      hunks: hunks.sort((one, other) => one.newStart - other.newStart),
      added: standing.reduce((sum, { added }) => sum + added, 0),
      removed: standing.reduce((sum, { removed }) => sum + removed, 0),
    };
  }).sort((one, other) => (one.path < other.path ? -1 : 1));
  return {
    files,
    added: files.reduce((sum, { added }) => sum + added, 0),
    removed: files.reduce((sum, { removed }) => sum + removed, 0),
  };
}

/** New files that hold what a deleted one held: at least half of its lines, most lines first. */
export function renamesOf(drafted: readonly Drafted[]): Map<FileLedger, FileLedger> {
  const created = drafted.filter(({ kind }) => kind === "created");
  const deleted = new Set(drafted.filter(({ kind }) => kind === "deleted"));
  const found: { from: Drafted; to: Drafted; share: number }[] = [];
  // every new file is compared with every deleted one
  if (created.length * deleted.size > 10_000) return new Map();
  for (const to of created) {
    for (const from of deleted) {
      const share = likeness(contentLines(from, "removed"), contentLines(to, "added"));
      if (share >= 0.5) found.push({ from, to, share });
    }
  }
  const renames = new Map<FileLedger, FileLedger>();
  for (const { from, to } of found.sort((one, other) => other.share - one.share)) {
    if (renames.has(to.file) || !deleted.delete(from)) continue;
    renames.set(to.file, from.file);
  }
  return renames;
}

function contentLines({ file, drafts }: Drafted, kind: "added" | "removed"): string[] {
  const whole = drafts.find(({ hunk }) => hunk.kind === "file")?.whole;
  if (whole !== undefined) {
    const body = kind === "added" ? file.body : whole[0]?.before;
    const version = body === undefined ? undefined : versionOfBody(body);
    return version?.type === "bytes" ? [version.id] : [];
  }
  return drafts.flatMap(({ hunk }) =>
    hunk.lines.filter((line) => line.kind === kind).map(({ text }) => text),
  );
}

function likeness(one: readonly string[], other: readonly string[]): number {
  const left = new Map<string, number>();
  for (const line of one) left.set(line, (left.get(line) ?? 0) + 1);
  let shared = 0;
  for (const line of other) {
    const count = left.get(line) ?? 0;
    if (count === 0) continue;
    left.set(line, count - 1);
    shared += 1;
  }
  const most = Math.max(one.length, other.length);
  return most === 0 ? 0 : shared / most;
}
