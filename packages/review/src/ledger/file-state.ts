// The history of a file as data, and back. Events and bodies are told apart by themselves, so each gets a number.

import type { Hash, Version } from "../files/version.ts";
import { base, Flag, type LineEvent, Weave } from "../text/weave.ts";
import { type Body, FileLedger } from "./file-ledger.ts";
import type { UndoneHunk } from "./reversal.ts";

type EventState = readonly [
  epoch: number,
  turn: number,
  isInsert: 0 | 1,
  state: LineEvent["state"],
  undoneAt: number,
];

/** Without events it is a line that was there at first. */
type EntryState = readonly [id: number, text: string, events?: readonly number[]];

type VersionState =
  | Exclude<Version, { type: "bytes" }>
  | {
      readonly type: "bytes";
      readonly isExecutable: boolean;
      readonly size: number;
      readonly id: string;
      readonly isKept: boolean;
    };

type BodyState =
  | { readonly type: "whole"; readonly version: VersionState }
  | {
      readonly type: "text";
      readonly exists: readonly number[] | undefined;
      readonly isExecutable: readonly number[] | undefined;
      readonly nextId: number;
      readonly entries: readonly EntryState[];
    };

interface FileState {
  readonly root: string;
  readonly path: string;
  readonly hash: Hash;
  readonly events: readonly EventState[];
  readonly bodies: readonly BodyState[];
  readonly body: number;
  readonly whole: readonly { readonly event: number; readonly before: number; readonly after: number }[];
}

/** The numbers of what was stored. */
export interface Numbers {
  readonly events: ReadonlyMap<LineEvent, number>;
  readonly bodies: ReadonlyMap<Body, number>;
}

/** What was restored, by its numbers. */
export interface Restored {
  readonly file: FileLedger;
  readonly events: readonly LineEvent[];
  readonly bodies: readonly Body[];
}

/** `undone` may hold what the file itself does not mention any more. */
export function fileState(
  file: FileLedger,
  undone: readonly UndoneHunk[],
): { readonly text: string; readonly numbers: Numbers } {
  const events = new Map<LineEvent, number>();
  const bodies = new Map<Body, number>();
  const eventNumber = (event: LineEvent) => numbered(events, event);
  const numbersOf = (list: readonly LineEvent[]) => (list === base ? undefined : list.map(eventNumber));
  const body = numbered(bodies, file.body);
  const whole = file.wholeChanges.map(({ event, before, after }) => ({
    event: eventNumber(event),
    before: numbered(bodies, before),
    after: numbered(bodies, after),
  }));
  for (const each of undone) {
    for (const { event } of each.events) eventNumber(event);
    if (each.bodies === undefined) continue;
    numbered(bodies, each.bodies.before);
    numbered(bodies, each.bodies.after);
  }
  const bodyStates = Array.from(bodies.keys(), (each): BodyState => {
    if (each.type === "whole") return { type: "whole", version: versionState(each.version) };
    return {
      type: "text",
      exists: numbersOf(each.exists.entry.events),
      isExecutable: numbersOf(each.isExecutable.entry.events),
      nextId: each.weave.nextId,
      entries: each.weave.entries.map(({ id, text, events: own }): EntryState => {
        const list = numbersOf(own);
        return list === undefined ? [id, text] : [id, text, list];
      }),
    };
  });
  const state: FileState = {
    root: file.root,
    path: file.path,
    hash: file.hash,
    body,
    whole,
    bodies: bodyStates,
    events: Array.from(
      events.keys(),
      ({ epoch, turn, isInsert, state: how, undoneAt }): EventState => [
        epoch,
        turn,
        isInsert ? 1 : 0,
        how,
        undoneAt,
      ],
    ),
  };
  return { text: JSON.stringify(state), numbers: { events, bodies } };
}

/** `load` reads a content that was kept, by the folder and its name. */
export function restoredFile(text: string, load: (root: string, id: string) => Promise<Buffer>): Restored {
  const state = JSON.parse(text) as FileState; // its hash says that we wrote it
  const { root } = state;
  const events = state.events.map(
    ([epoch, turn, isInsert, how, undoneAt]): LineEvent => ({
      epoch,
      turn,
      isInsert: isInsert === 1,
      state: how,
      undoneAt,
    }),
  );
  const eventsOf = (list: readonly number[] | undefined) =>
    list === undefined ? base : list.map((number) => at(events, number));
  const bodies = state.bodies.map((body): Body => {
    if (body.type === "whole")
      return { type: "whole", version: restoredVersion(body.version, (id) => load(root, id)) };
    const entries = body.entries.map(([id, line, list]) => ({ id, text: line, events: eventsOf(list) }));
    return {
      type: "text",
      exists: Flag.of(eventsOf(body.exists)),
      isExecutable: Flag.of(eventsOf(body.isExecutable)),
      weave: Weave.of(entries, body.nextId),
    };
  });
  const file = new FileLedger(root, state.path, state.hash, { type: "absent" });
  file.body = at(bodies, state.body);
  for (const { event, before, after } of state.whole) {
    file.wholeChanges.push({
      event: at(events, event),
      before: at(bodies, before),
      after: at(bodies, after),
    });
  }
  file.isUnsaved = false;
  return { file, events, bodies };
}

function numbered<Thing>(numbers: Map<Thing, number>, thing: Thing): number {
  const number = numbers.get(thing) ?? numbers.size;
  numbers.set(thing, number);
  return number;
}

/** A number that was stored. */
export function at<Thing>(things: readonly Thing[], number: number): Thing {
  const thing = things[number];
  if (thing === undefined) throw new Error(`there is no number ${number} in what was stored`);
  return thing;
}

function versionState(version: Version): VersionState {
  if (version.type !== "bytes") return version;
  const { type, isExecutable, size, id } = version;
  return { type, isExecutable, size, id, isKept: version.load !== undefined };
}

function restoredVersion(version: VersionState, load: (id: string) => Promise<Buffer>): Version {
  if (version.type !== "bytes") return version;
  const { type, isExecutable, size, id, isKept } = version;
  return { type, isExecutable, size, id, load: isKept ? () => load(id) : undefined };
}
