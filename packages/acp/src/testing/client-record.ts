// What a scripted client has seen, as plain JSON that is the same every time: ids are numbered in the order of their
// first sight, and nothing says when.

import type { Entry } from "../model/entry.ts";
import { viewFrom } from "../view/apply-entry.ts";
import { snapshot, type ViewSnapshot } from "../view/snapshot.ts";

/** What became of one step. */
export interface StepRecord {
  readonly step: string;
  /** The session it was about, by its name. */
  readonly session?: string;
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly kind?: string; readonly message: string };
}

type TimeField = "time" | "updatedAt" | "createdAt" | "endedAt";

type Without<Value, Field extends string> = Value extends object
  ? { readonly [Key in keyof Value as Key extends Field ? never : Key]: Value[Key] }
  : Value;

/** What happened in a session, without times, and what a user interface shows in the end, without counts. */
export interface SessionRecord {
  readonly entries: readonly Without<Entry, TimeField>[];
  readonly view: {
    readonly [Field in Exclude<
      keyof ViewSnapshot,
      "seq" | "version" | TimeField
    >]: ViewSnapshot[Field] extends readonly (infer Item)[] | undefined
      ? readonly Without<Item, "key" | "seq" | "version" | TimeField>[]
      : ViewSnapshot[Field];
  };
}

export interface ClientRecord {
  /** The version that was agreed on; absent when no connection came about. */
  readonly version?: number;
  readonly agent?: { readonly info: unknown; readonly features: unknown; readonly authMethods: unknown };
  readonly steps: readonly StepRecord[];
  /** By name: everything that happened, and what a user interface shows in the end. */
  readonly sessions: Readonly<Record<string, SessionRecord>>;
  /** Questions and their answers, in order. */
  readonly asked: readonly unknown[];
  /** What the agent did with our files and terminals. */
  readonly services: readonly unknown[];
  readonly files: Readonly<Record<string, string>>;
}

/** Fields whose values differ from run to run, by what they are called in a record. */
const idFields: Readonly<Record<string, string>> = {
  sessionId: "session",
  messageId: "message",
  toolCallId: "tool",
  toolCallIds: "tool",
  terminalId: "terminal",
  terminalIds: "terminal",
  askId: "ask",
  pendingAsks: "ask",
  correlationId: "correlation",
};

const timeFields: ReadonlySet<string> = new Set<TimeField>(["time", "updatedAt", "createdAt", "endedAt"]);

/** Numbers ids in the order in which they are first seen, each kind by itself. */
export class StableIds {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** Sessions go by the names that the scenario gave them. */
  readonly #sessions: ReadonlyMap<string, string>;

  constructor(sessions: ReadonlyMap<string, string> = new Map()) {
    this.#sessions = sessions;
  }

  /** A copy without times, with ids that are the same in every run. */
  stable(value: unknown, field = ""): unknown {
    if (Array.isArray(value)) return value.map((item) => this.stable(item, field));
    if (typeof value === "object" && value !== null) return this.#object(value);
    const kind = idFields[field];
    return typeof value === "string" && kind !== undefined ? this.#name(kind, value) : value;
  }

  #object(value: object): object {
    const kept = Object.entries(value).filter(([key, item]) => !timeFields.has(key) && item !== undefined);
    return Object.fromEntries(kept.map(([key, item]) => [key, this.stable(item, key)]));
  }

  #name(kind: string, id: string): string {
    const known =
      this.#names.get(`${kind} ${id}`) ?? (kind === "session" ? this.#sessions.get(id) : undefined);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `${kind}-${count}`;
    this.#names.set(`${kind} ${id}`, name);
    return name;
  }
}

/** Entries and their view with stable ids. */
export function sessionRecord(entries: readonly Entry[], ids: StableIds): SessionRecord {
  const stable = entries.map((entry) => ids.stable(entry));
  const view = ids.stable(withoutCounts(snapshot(viewFrom(entries))));
  // `stable` keeps the shape and takes out the fields that the type is without
  return { entries: stable, view } as SessionRecord;
}

/** How many entries it took to get there is not what a user sees. */
function withoutCounts(view: object): object {
  const { seq: _, version: _v, ...shown } = view as { seq?: unknown; version?: unknown };
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(withoutKeys) : value,
    ]),
  );
}

function withoutKeys(item: unknown): unknown {
  if (typeof item !== "object" || item === null || !("key" in item)) return item;
  const { key: _, seq: _s, version: _v, ...rest } = item as Record<string, unknown>; // an item of the view
  return rest;
}
