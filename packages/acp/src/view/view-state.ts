// The writable state behind a view, with the indexes and patches that applying entries needs.

import type { ContentBlock, Meta } from "../model/content.ts";
import type { KeptItems } from "./kept-items.ts";
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
import type { TerminalBytes } from "./terminals.ts";

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
  /** The time of the entry being applied. */
  time: number;
  readonly terminalBytes: number;
  /** Undefined if everything is kept. */
  readonly kept: KeptItems | undefined;
  readonly changes: ChangeList;
  readonly parts: Readonly<Record<ViewPart["key"], Mutable<ViewPart>>>;
  /** Each kind of message has its own ids. Maps, because an id may be "__proto__". */
  readonly messages: Readonly<Record<MessageItem["kind"], Map<string, Mutable<MessageItem>>>>;
  readonly sessionMessages: Map<string, Mutable<SessionMessageItem>>;
  readonly compactions: Map<string, Mutable<CompactionItem>>;
  readonly asks: Map<string, Mutable<Extract<TimelineItem, { askId: string }>>>;
  /** The calls that a cancelled result may end. */
  readonly openCalls: Set<Mutable<ToolCallItem>>;
}

export type ViewState = Omit<Mutable<SessionView>, "terminals"> & {
  terminals: Map<string, TerminalState>;
  readonly fold: Fold;
};

export function createState(terminalBytes: number, kept?: KeptItems): ViewState {
  const part = (key: ViewPart["key"]): Mutable<ViewPart> => ({ kind: "part", key, version: 0 });
  return {
    seq: 0,
    version: 0,
    timeline: [],
    dropped: 0,
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
    _meta: undefined,
    state: undefined,
    busy: false,
    background: undefined,
    completions: 0,
    lastResult: undefined,
    fold: {
      time: 0,
      terminalBytes,
      kept,
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
  state.fold.kept?.added(item);
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

interface Node {
  readonly thing: Changed;
  older: Node | undefined;
  newer: Node | undefined;
}

/** Orders parts by their last change, at a cost that does not depend on the session's length. */
class ChangeList {
  readonly #nodes = new Map<Changed, Node>();
  #newest: Node | undefined;

  touch(thing: Changed): void {
    // streams change the same thing repeatedly
    if (this.#newest?.thing === thing) return;
    let node = this.#nodes.get(thing);
    if (node === undefined) {
      node = { thing, older: undefined, newer: undefined };
      this.#nodes.set(thing, node);
    } else {
      this.#unlink(node);
    }
    node.older = this.#newest;
    node.newer = undefined;
    if (this.#newest !== undefined) this.#newest.newer = node;
    this.#newest = node;
  }

  forget(thing: Changed): void {
    const node = this.#nodes.get(thing);
    if (node === undefined) return;
    this.#nodes.delete(thing);
    this.#unlink(node);
  }

  /** Returns what changed after that version, least recent first. */
  since(version: number): Changed[] {
    const found: Changed[] = [];
    for (let node = this.#newest; node !== undefined && node.thing.version > version; node = node.older) {
      found.push(node.thing);
    }
    return found.reverse();
  }

  #unlink(node: Node): void {
    if (node.newer !== undefined) node.newer.older = node.older;
    else this.#newest = node.older;
    if (node.older !== undefined) node.older.newer = node.newer;
  }
}

/** Patches these fields of an item. */
export function patchFields<Key extends string, Item extends { [Field in Key]: unknown }>(
  item: Item,
  patch: { readonly [Field in Key]?: Readonly<Item[Field]> | null | undefined },
  keys: readonly Key[],
): void {
  // as: null became undefined, and the value is replaced as a whole
  for (const key of keys) item[key] = patched<unknown>(item[key], patch[key]) as Item[Key];
}

export function patched<T>(stored: T | undefined, value: T | null | undefined): T | undefined {
  return value === undefined ? stored : (value ?? undefined);
}

/**
 * Patches metadata by top-level key: null removes a key, null as a whole removes all. The stored object is
 * changed in place.
 */
export function patchedMeta(stored: Meta | undefined, patch: Meta | null | undefined): Meta | undefined {
  if (patch === undefined) return stored;
  if (patch === null) return undefined;
  const meta: Record<string, unknown> = stored ?? {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete meta[key];
    // an assignment would set the prototype
    else if (key === "__proto__") Object.defineProperty(meta, key, ownProperty(value));
    else meta[key] = value;
  }
  return meta;
}

function ownProperty(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

/** Whether a block is text without annotations or metadata, which can be joined with its neighbours. */
export function isPlainText(block: ContentBlock): block is Extract<ContentBlock, { type: "text" }> {
  return (
    block.type === "text" &&
    // older entries have null
    block.annotations == null &&
    block._meta == null
  );
}

/**
 * Copies plain text blocks, because later chunks are appended to them and entries must not change.
 */
export function ownBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.map((block) => (isPlainText(block) ? { ...block } : block));
}

/** Whoever reads a text that has grown copies it: a longer one goes on in a new block, with a new line if possible. */
const longestText = 256 * 1024;

/** Appends a chunk; text is joined with the text before it. */
export function appendBlock(content: ContentBlock[], block: ContentBlock): void {
  const last = content.at(-1);
  if (!isPlainText(block) || last === undefined || !isPlainText(last)) {
    content.push(isPlainText(block) ? { ...block } : block);
    return;
  }
  const grown = last as { text: string }; // as: a copy of ours
  const { length } = last.text;
  const cut = length < longestText ? 0 : (block.text.indexOf("\n") + 1) % block.text.length;
  if (cut > 0) {
    grown.text += block.text.slice(0, cut);
    content.push({ ...block, text: block.text.slice(cut) });
  } else if (length < 2 * longestText) grown.text += block.text;
  else content.push({ ...block });
}
