// The hunks of one file in a view of some turns, with all that is needed to take them back.

import { createHash } from "node:crypto";
import { shownSize } from "../files/source.ts";
import { isSameVersion, shownPath, type Version } from "../files/version.ts";
import { eventsOf, type Group, groupsOf, obstacle, type ShownLine, showGroups } from "../text/hunks.ts";
import { type IsOfView, isPresent, type LineEvent, type WeaveEntry } from "../text/weave.ts";
import { type Body, type FileLedger, type TextBody, versionOfBody, type WholeChange } from "./file-ledger.ts";
import type { Hunk, HunkLine } from "./review-types.ts";

/** How many unchanged lines are shown around a hunk. */
const context = 3;

/** The turns that a view takes as changes; the rest counts as the user's. Undefined means all. */
export type View = ReadonlySet<number> | undefined;

/** A hunk, the events that made it, and the way to undo it where it has no lines. */
export interface Draft {
  readonly hunk: Hunk;
  readonly events: readonly LineEvent[];
  readonly whole: readonly WholeChange[];
}

/** The hunks of a file and what happened to the file as a whole. */
export interface FileDraft {
  readonly kind: "created" | "deleted" | "changed";
  readonly drafts: readonly Draft[];
}

export function isOfView(view: View): IsOfView {
  return ({ turn, state }) => turn > 0 && state === "open" && (view === undefined || view.has(turn));
}

export function draftFile(file: FileLedger, view: View): FileDraft {
  const whole = wholeDraft(file, view);
  if (file.body.type === "whole") {
    return {
      kind: whole === undefined ? "changed" : whole.kind,
      drafts: whole === undefined ? [] : [whole.draft],
    };
  }
  const text = textDrafts(file, file.body, view);
  if (whole === undefined) return text;
  return { kind: whole.kind, drafts: [whole.draft, ...text.drafts] };
}

function textDrafts(file: FileLedger, body: TextBody, view: View): FileDraft {
  const ofView = isOfView(view);
  const { entries } = body.weave;
  const groups = groupsOf(entries, ofView);
  const shown = showGroups(entries, groups, ofView, context);
  const existsEvents = flipped(body.exists.entry, ofView);
  const kind = existsEvents.length === 0 ? "changed" : body.exists.isSet ? "created" : "deleted";
  // the user deleted the file: nothing of the agent is left in it
  if (kind === "changed" && !body.exists.isSet) return { kind, drafts: [] };
  const drafts = groups.map((group, index): Draft => {
    const located = eventsOf(entries, group, ofView);
    const events = located.map(({ event }) => event);
    const lines = (shown[index]?.lines ?? []).map(hunkLine);
    return {
      events: [...events, ...existsEvents],
      whole: [],
      hunk: {
        id: hunkId(
          file,
          located.map(({ entry, event }) => `${entry}@${event.epoch}`),
        ),
        kind: "lines",
        ...stateOf(entries, group, ofView, events),
        turns: turnsOf(events),
        oldStart: shown[index]?.oldStart ?? 1,
        newStart: shown[index]?.newStart ?? 1,
        lines,
        added: lines.filter((line) => line.kind === "added").length,
        removed: lines.filter((line) => line.kind === "removed").length,
      },
    };
  });
  if (drafts.length === 0 && existsEvents.length > 0) {
    drafts.push(bareDraft(file, "lines", existsEvents, `${kind}, empty`));
  }
  const modeEvents = kind === "changed" ? flipped(body.isExecutable.entry, ofView) : [];
  if (modeEvents.length > 0) {
    const about = body.isExecutable.isSet ? "made executable" : "made not executable";
    drafts.push(bareDraft(file, "mode", modeEvents, about));
  }
  return { kind, drafts };
}

/** The events of a view that decide a yes or no of the file. */
function flipped(entry: WeaveEntry, ofView: IsOfView): LineEvent[] {
  return isPresent(entry) === isPresent(entry, ofView) ? [] : entry.events.filter(ofView);
}

function stateOf(
  entries: readonly WeaveEntry[],
  group: Group,
  ofView: IsOfView,
  events: readonly LineEvent[],
): Pick<Hunk, "state" | "about"> {
  const chosen = new Set(events);
  const other = obstacle(entries, group, ofView, (entry) => isPresent(entry, (event) => chosen.has(event)));
  return other === undefined ? { state: "open", about: undefined } : changedBy(other);
}

function bareDraft(file: FileLedger, kind: Hunk["kind"], events: readonly LineEvent[], about: string): Draft {
  const id = hunkId(file, [kind, ...events.map(({ epoch }) => `${epoch}`)]);
  const hunk: Hunk = {
    id,
    kind,
    state: "open",
    about,
    turns: turnsOf(events),
    oldStart: 1,
    newStart: 1,
    lines: [],
    added: 0,
    removed: 0,
  };
  return { hunk, events, whole: [] };
}

/** The last changes of the file as a whole that are of the view, as one. */
function wholeDraft(file: FileLedger, view: View): { kind: FileDraft["kind"]; draft: Draft } | undefined {
  const ofView = isOfView(view);
  const standing = file.wholeChanges.filter(({ event }) => event.state !== "undone");
  const end = standing.findLastIndex(({ event }) => ofView(event)) + 1;
  const start = standing.slice(0, end).findLastIndex(({ event }) => !ofView(event)) + 1;
  const whole = standing.slice(start, end);
  const [first, last, next] = [whole[0], whole.at(-1), standing[end]];
  if (first === undefined || last === undefined) return undefined;
  const [before, after] = [versionOfBody(first.before), versionOfBody(last.after)];
  if (isSameVersion(before, after)) return undefined;
  const events = whole.map(({ event }) => event);
  const bare = bareDraft(file, "file", events, `${described(before)} became ${described(after)}`);
  const later = next?.event ?? laterEvent(last.after);
  const hunk: Hunk = { ...bare.hunk, ...(later === undefined ? {} : changedBy(later)), ...unkept(before) };
  const kind = before.type === "absent" ? "created" : after.type === "absent" ? "deleted" : "changed";
  return { kind, draft: { hunk, events, whole } };
}

/** A change of lines after the file became a text. */
function laterEvent(body: Body): LineEvent | undefined {
  if (body.type === "whole") return undefined;
  const entries = [body.exists.entry, body.isExecutable.entry, ...body.weave.entries];
  return entries.flatMap(({ events }) => events).find(({ epoch, state }) => epoch > 0 && state !== "undone");
}

function unkept(before: Version): Partial<Hunk> {
  if (before.type === "other")
    return { state: "superseded", about: `it was ${before.what}, which is not kept` };
  if (before.type !== "bytes" || before.load !== undefined) return {};
  return { state: "superseded", about: "its earlier content was not kept" };
}

function changedBy({ turn }: LineEvent): Pick<Hunk, "state" | "about"> {
  if (turn === 0) return { state: "changed-since", about: "you changed this since" };
  return { state: "superseded", about: `turn ${turn} changed this since` };
}

function described(version: Version): string {
  if (version.type === "absent") return "nothing";
  if (version.type === "text") return `a text of ${version.lines.length} lines`;
  if (version.type === "bytes") return `a file of ${shownSize(version.size)} without lines`;
  return version.type === "link" ? `a link to ${shownPath(version.target)}` : version.what;
}

function turnsOf(events: readonly LineEvent[]): number[] {
  return [...new Set(events.map(({ turn }) => turn))].sort((one, other) => one - other);
}

function hunkId(file: FileLedger, parts: readonly string[]): string {
  return createHash("sha256")
    .update([file.root, file.path, ...parts].join("\0"))
    .digest("hex")
    .slice(0, 16);
}

function hunkLine({ kind, text }: ShownLine): HunkLine {
  const ending = text.endsWith("\r\n") ? "\r\n" : text.endsWith("\n") ? "\n" : "";
  return { kind, ending, text: shownPath(text.slice(0, text.length - ending.length)) };
}
