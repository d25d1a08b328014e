// The writable state behind a view, with the indexes that applying entries needs.

import { ChangeList } from "./change-list.ts";
import type {
  Changed,
  CompactionItem,
  MessageItem,
  SessionMessageItem,
  SessionView,
  TerminalItem,
  TimelineItem,
  ToolCallItem,
  ViewPart,
} from "./session-view.ts";
import type { TerminalBytes } from "./terminal-bytes.ts";

type Writable<T> = T extends readonly (infer Element)[]
  ? Element[]
  : T extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Mutable<Value>>
    : T extends ReadonlySet<infer Element>
      ? Set<Element>
      : T;

/** The writable form of a read-only type. */
export type Mutable<T> = { -readonly [Key in keyof T]: Writable<T[Key]> };

export type TerminalState = Omit<Mutable<TerminalItem>, "output"> & { output: TerminalBytes };

interface Fold {
  /** Of the entry being applied. */
  time: number;
  readonly terminalBytes: number;
  readonly changes: ChangeList;
  readonly parts: Readonly<Record<ViewPart["key"], Mutable<ViewPart>>>;
  /** Each kind of message has its own ids. Maps, because an id may be "__proto__". */
  readonly messages: Readonly<Record<MessageItem["kind"], Map<string, Mutable<MessageItem>>>>;
  readonly sessionMessages: Map<string, Mutable<SessionMessageItem>>;
  readonly compactions: Map<string, Mutable<CompactionItem>>;
  readonly asks: Map<string, Mutable<Extract<TimelineItem, { askId: string }>>>;
  /** The calls that a cancelled outcome may end. */
  readonly openCalls: Set<Mutable<ToolCallItem>>;
}

export type ViewState = Omit<Mutable<SessionView>, "terminals"> & {
  terminals: Map<string, TerminalState>;
  readonly fold: Fold;
};

export function createState(terminalBytes: number): ViewState {
  const part = (key: ViewPart["key"]): Mutable<ViewPart> => ({ kind: "part", key, version: 0 });
  return {
    seq: 0,
    version: 0,
    timeline: [],
    toolCalls: new Map(),
    terminals: new Map(),
    subagents: new Map(),
    plans: new Map(),
    files: new Map(),
    pendingAsks: new Map(),
    commands: [],
    configOptions: [],
    mode: undefined,
    usage: undefined,
    cost: undefined,
    title: undefined,
    updatedAt: undefined,
    meta: undefined,
    state: undefined,
    busy: false,
    background: undefined,
    completions: 0,
    lastOutcome: undefined,
    fold: {
      time: 0,
      terminalBytes,
      changes: new ChangeList(),
      parts: {
        state: part("state"),
        info: part("info"),
        usage: part("usage"),
        commands: part("commands"),
        config_options: part("config_options"),
        plans: part("plans"),
        asks: part("asks"),
      },
      messages: { user_message: new Map(), agent_message: new Map(), agent_thought: new Map() },
      sessionMessages: new Map(),
      compactions: new Map(),
      asks: new Map(),
      openCalls: new Set(),
    },
  };
}

/** Marks this as changed by the current entry. */
export function touch(state: ViewState, thing: Mutable<Changed> | TerminalState): void {
  thing.version = state.seq;
  state.version = state.seq;
  state.fold.changes.touch(thing);
}

export function touchPart(state: ViewState, key: ViewPart["key"]): void {
  touch(state, state.fold.parts[key]);
}

/** Adds an item to the end of the timeline. */
export function addItem<T extends Mutable<TimelineItem>>(state: ViewState, item: T): T {
  state.timeline.push(item);
  touch(state, item);
  return item;
}

/** Returns the item with this id, or adds a new one to the timeline. */
export function findOrAdd<T extends Mutable<TimelineItem>>(
  state: ViewState,
  items: Map<string, T>,
  id: string,
  create: () => T,
): T {
  let item = items.get(id);
  if (item === undefined) {
    item = addItem(state, create());
    items.set(id, item);
  }
  return item;
}

/** The fields that every new item begins with. */
export function firstSight(
  state: ViewState,
  key: string,
): { key: string; version: number; seq: number; time: number } {
  return { key, version: state.seq, seq: state.seq, time: state.fold.time };
}
