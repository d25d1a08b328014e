// The changes that some events made to a file, in groups of neighbouring lines, and what speaks against taking one back.

import { type IsOfView, isPresent, type LineEvent, lastEvent, type WeaveEntry } from "./weave.ts";

/** Groups with at most this many lines between them are one hunk. */
const joinedBy = 2;

/** Neighbouring lines that differ with and without the events of a view. */
export interface Group {
  /** The first and the last line that differ, as positions in the weave. */
  readonly first: number;
  readonly last: number;
}

/** The state of every line: in the file now, and in the file without the events of a view. */
interface Sides {
  readonly now: boolean;
  readonly without: boolean;
}

function sidesOf(entries: readonly WeaveEntry[], ofView: IsOfView): Sides[] {
  return entries.map((entry) => {
    // nearly all lines of nearly all files have one event
    const now = isPresent(entry);
    return { now, without: entry.events.some(ofView) ? isPresent(entry, ofView) : now };
  });
}

export function groupsOf(entries: readonly WeaveEntry[], ofView: IsOfView): Group[] {
  const groups: { first: number; last: number }[] = [];
  let between = 0;
  sidesOf(entries, ofView).forEach(({ now, without }, index) => {
    const open = groups.at(-1);
    if (now !== without) {
      if (open !== undefined && between <= joinedBy) open.last = index;
      else groups.push({ first: index, last: index });
      between = 0;
    } else if (now) between += 1;
  });
  return groups;
}

/** An event with the line that it belongs to. */
export interface LocatedEvent {
  readonly entry: number;
  readonly event: LineEvent;
}

/** The events of a view on the lines of a group, and on the lines between it and the next that stayed. */
export function eventsOf(entries: readonly WeaveEntry[], group: Group, ofView: IsOfView): LocatedEvent[] {
  const isGone = (index: number) => {
    const entry = entries[index];
    return entry !== undefined && !isPresent(entry) && !isPresent(entry, ofView);
  };
  let { first, last } = group;
  while (isGone(first - 1)) first -= 1;
  while (isGone(last + 1)) last += 1;
  return entries
    .slice(first, last + 1)
    .flatMap(({ id, events }) => events.filter(ofView).map((event) => ({ entry: id, event })));
}

/**
 * The later change, by somebody else, that a change of a group would break: the event that put the other's line there.
 * `after` says which lines would be there then.
 */
export function obstacle(
  entries: readonly WeaveEntry[],
  group: Group,
  ofView: IsOfView,
  after: (entry: WeaveEntry) => boolean,
): LineEvent | undefined {
  const put = (entry: WeaveEntry) => putBy(entry, ofView);
  const flips = (index: number) => {
    const entry = entries[index];
    return (
      entry !== undefined && index >= group.first && index <= group.last && isPresent(entry) !== after(entry)
    );
  };
  const madeAt = (entry: WeaveEntry) =>
    Math.max(
      0,
      ...entry.events
        .filter(ofView)
        .map(({ state, epoch, undoneAt }) => (state === "undone" ? undoneAt : epoch)),
    );
  const look = (from: number, direction: 1 | -1, epoch: number) => {
    let isBeside = false;
    let hasLive = false;
    let isReplaced = false;
    for (let i = from + direction; ; i += direction) {
      const entry = entries[i];
      if (entry === undefined) break;
      if (flips(i)) {
        if (madeAt(entry) >= epoch) break;
        isBeside = true;
        hasLive ||= isPresent(entry);
      } else if (!isPresent(entry)) {
        // the agent's line that the other replaced by the line from which we look
        if (
          lastEvent(entry)?.epoch === epoch &&
          entry.events.some((event) => event.isInsert && ofView(event))
        )
          isReplaced = true;
      } else if (isBeside || put(entry)?.epoch !== epoch) break;
    }
    return { isBeside, hasLive, isReplaced };
  };
  for (
    let i = Math.max(0, reach(entries, group.first, -1, put));
    i <= reach(entries, group.last, 1, put);
    i += 1
  ) {
    const entry = entries[i];
    if (entry === undefined || flips(i)) continue;
    const other = put(entry);
    if (other?.isInsert !== true || other.epoch === 0) continue;
    const before = look(i, -1, other.epoch);
    const behind = look(i, 1, other.epoch);
    const isInside = before.isBeside && behind.isBeside;
    const isReplaced = (before.isReplaced || behind.isReplaced) && (before.isBeside || behind.isBeside);
    // lines that come back beside lines that were written since: nobody knows in which order they belong
    const isOrderLost = [before, behind].some(({ isBeside, hasLive }) => isBeside && !hasLive);
    if (isInside || isReplaced || isOrderLost) return other;
  }
  return undefined;
}

/** The event that put a line there that does not flip: one of others, if the line is there without those of the view. */
function putBy(entry: WeaveEntry, ofView: IsOfView): LineEvent | undefined {
  const now = lastEvent(entry);
  const others = now?.isInsert === true ? lastEvent(entry, ofView) : now;
  return others?.isInsert === true ? others : now;
}

/** The end of the neighbourhood of a group: up to the first line that was there from the beginning. */
function reach(
  entries: readonly WeaveEntry[],
  from: number,
  direction: 1 | -1,
  put: (entry: WeaveEntry) => LineEvent | undefined,
): number {
  let index = from;
  for (;;) {
    const entry = entries[index + direction];
    if (entry === undefined) return index;
    const last = put(entry);
    if (last?.isInsert === true && last.epoch === 0) return index;
    index += direction;
  }
}

/** A line of a hunk as it is shown. */
export interface ShownLine {
  readonly kind: "context" | "removed" | "added";
  readonly text: string;
}

/** A group as it is shown, with the numbers of its first lines, from 1. */
export interface ShownGroup {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly ShownLine[];
}

export function showGroups(
  entries: readonly WeaveEntry[],
  groups: readonly Group[],
  ofView: IsOfView,
  context: number,
): ShownGroup[] {
  const sides = sidesOf(entries, ofView);
  const oldBefore: number[] = [];
  const newBefore: number[] = [];
  let [old, now] = [0, 0];
  for (const side of sides) {
    oldBefore.push(old);
    newBefore.push(now);
    if (side.without) old += 1;
    if (side.now) now += 1;
  }
  return groups.map((group) => {
    const start = contextEnd(sides, group.first, -1, context);
    const end = contextEnd(sides, group.last, 1, context);
    return {
      oldStart: (oldBefore[start] ?? 0) + 1,
      newStart: (newBefore[start] ?? 0) + 1,
      lines: shownLines(entries.slice(start, end + 1), sides.slice(start, end + 1)),
    };
  });
}

/** Up to `count` unchanged lines before or after a group, not beyond the next changed line. */
function contextEnd(sides: readonly Sides[], from: number, direction: 1 | -1, count: number): number {
  let end = from;
  let left = count;
  for (let i = from + direction; left > 0; i += direction) {
    const side = sides[i];
    if (side === undefined || side.now !== side.without) break;
    if (!side.now) continue;
    end = i;
    left -= 1;
  }
  return end;
}

function shownLines(entries: readonly WeaveEntry[], sides: readonly Sides[]): ShownLine[] {
  const lines: ShownLine[] = [];
  let added: ShownLine[] = [];
  entries.forEach(({ text }, index) => {
    const side = sides[index];
    if (side === undefined || (!side.now && !side.without)) return;
    if (side.now && !side.without) {
      added.push({ kind: "added", text });
      return;
    }
    if (side.now) {
      lines.push(...added);
      added = [];
    }
    lines.push({ kind: side.now ? "context" : "removed", text });
  });
  return [...lines, ...added];
}
