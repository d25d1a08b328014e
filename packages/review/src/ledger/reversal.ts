// Takes hunks of one file back, or puts them there again: in its history first, then on disk.

import { NotReplaced, putVersion, type Replacement } from "../files/put-version.ts";
import { isSameVersion, readVersion, type Version } from "../files/version.ts";
import { obstacle } from "../text/hunks.ts";
import { isPresent, type LineEvent, type WeaveEntry } from "../text/weave.ts";
import type { Draft } from "./drafts.ts";
import { type Body, type FileLedger, type TextBody, versionOfBody } from "./file-ledger.ts";

/** What an undo changed in the history of a file, so that it can be changed back. */
export interface UndoneHunk {
  readonly file: FileLedger;
  readonly events: readonly { readonly event: LineEvent; readonly state: LineEvent["state"] }[];
  /** The file as a whole, before and after the undo. */
  readonly bodies: { readonly before: Body; readonly after: Body } | undefined;
}

/** What a write needs besides the file. */
export type WriteOptions = Pick<Replacement, "foldersSince" | "temporary">;

/** Reads the file and records what the user did to it since. */
export async function refreshFile(file: FileLedger, epoch: number): Promise<Version> {
  const version = await readVersion(file.root, file.path, file.hash).catch(
    (error: Error): Version => ({ type: "other", what: `a file that cannot be read (${error.message})` }),
  );
  // nothing that could be undone or merged: it stays until it is gone
  if (version.type !== "other") file.record(version, epoch, 0);
  return version;
}

/** Marks the events of hunks as undone. The file on disk is not touched yet. */
export function markUndone(file: FileLedger, drafts: readonly Draft[], epoch: number): UndoneHunk[] {
  const body = file.body;
  file.isUnsaved = true;
  const undone = drafts.map(({ whole, events, hunk }): UndoneHunk => {
    const first = whole[0];
    const ofLines =
      body.type === "text" && hunk.kind === "lines" ? new Set(body.exists.entry.events) : new Set();
    const marked = events.filter((event) => !ofLines.has(event));
    const states = marked.map((event) => ({ event, state: event.state }));
    for (const event of marked) markEvent(event, epoch);
    if (first === undefined) return { file, events: states, bodies: undefined };
    const bodies = { before: file.body, after: first.before };
    file.body = first.before;
    return { file, events: states, bodies };
  });
  // a file that was created goes only when none of its lines is left
  const last = undone.at(-1);
  if (body.type !== "text" || last === undefined) return undone;
  const exists = body.exists.entry.events.filter((event) =>
    drafts.some(({ events }) => events.includes(event)),
  );
  const isLeft = body.exists.isSet && body.weave.lines().length > 0;
  if (exists.length === 0 || isLeft) return undone;
  const states = exists.map((event) => ({ event, state: event.state }));
  for (const event of exists) markEvent(event, epoch);
  return [...undone.slice(0, -1), { ...last, events: [...last.events, ...states] }];
}

function markEvent(event: LineEvent, epoch: number): void {
  event.state = "undone";
  event.undoneAt = epoch;
}

/** Takes the marks back. */
export function unmark(undone: readonly UndoneHunk[]): void {
  for (const { file, events, bodies } of undone.toReversed()) {
    file.isUnsaved = true;
    for (const { event, state } of events) event.state = state;
    if (bodies !== undefined) file.body = bodies.before;
  }
}

/** Why a hunk cannot be put there again. */
export function redoObstacle({ file, events, bodies }: UndoneHunk): string | undefined {
  const changed = "this was changed since";
  if (events.some(({ event }) => event.state !== "undone")) return changed;
  if (bodies !== undefined) {
    return file.body === bodies.after && isAsUndone(bodies.after) ? undefined : changed;
  }
  if (file.body.type !== "text") return changed;
  const chosen = new Set(events.map(({ event }) => event));
  const { entries } = file.body.weave;
  const positions = entries.flatMap(({ events: own }, index) =>
    own.some((event) => chosen.has(event)) ? [index] : [],
  );
  const [first, last] = [positions[0], positions.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const after = (entry: WeaveEntry) =>
    isPresent({
      ...entry,
      events: entry.events.map((event) => (chosen.has(event) ? { ...event, state: "open" } : event)),
    });
  const other = obstacle(entries, { first, last }, (event) => chosen.has(event), after);
  return other === undefined ? undefined : changed;
}

/** A file that was restored as a whole and has not changed since. Text may change, line by line. */
function isAsUndone(body: Body): boolean {
  return body.type === "whole" || !hasUserEvents(body, 0);
}

/** Whether the user changed the file after this point. */
export function hasUserEvents(body: Body, since: number): boolean {
  if (body.type === "whole") return false;
  return textEntries(body).some(({ events }) =>
    events.some(({ turn, epoch, state }) => turn === 0 && epoch > since && state !== "undone"),
  );
}

function textEntries(body: TextBody): WeaveEntry[] {
  return [body.exists.entry, body.isExecutable.entry, ...body.weave.entries];
}

/** Writes the file as its history has it now. Gives the reason if it was left alone. */
export async function writeFile(
  file: FileLedger,
  expected: Version,
  options: WriteOptions,
): Promise<string | undefined> {
  const wanted = versionOfBody(file.body);
  if (isSameVersion(expected, wanted)) return undefined;
  if (expected.type === "other") return `there is ${expected.what} now`;
  if (wanted.type === "text" && wanted.lines.slice(0, -1).some((line) => !line.endsWith("\n"))) {
    // a last line without newline would run into the line that follows it now
    return "lines were added behind the end that the file had";
  }
  try {
    const { root, path, hash } = file;
    await putVersion({ root, path, hash, expected, wanted, ...options });
    return undefined;
  } catch (error) {
    if (error instanceof NotReplaced) return error.message;
    return error instanceof Error ? error.message : String(error);
  }
}
