// Records what a scripted client has seen as reproducible JSON, and reduces it to what both versions can express.

import type { EditionName, Entry } from "@parley/acp";
import { lostKey } from "@parley/acp/extensions";
import { isObject } from "@parley/acp/jsonrpc";
import { snapshot, type ViewSnapshot, viewFrom } from "@parley/acp/view";

/** The result of one step. */
export interface StepRecord {
  /** The verb of the step, such as "prompt". */
  readonly step: string;
  /** The name of its session, if it has one. */
  readonly session?: string;
  /** The result of the call, if it has one. */
  readonly result?: unknown;
  /** The error of the call, if it failed. */
  readonly error?: { readonly code?: number; readonly kind?: string; readonly message: string };
}

/** A value without its times and other fields that differ between runs. */
export type Recorded<Value, Left extends string = never> = Value extends object
  ? {
      readonly [Key in keyof Value as Key extends
        | Left
        | "time"
        | "updatedAt"
        | "createdAt"
        | "endedAt"
        | "waitedMs"
        ? never
        : Key]: Value[Key];
    }
  : Value;

/** The entries of a session without times, and its final view without counts. */
export interface RecordedSession {
  /** All entries of the session, with numbered ids instead of random ones. */
  readonly entries: readonly Recorded<Entry>[];
  /** The view of the session at the end. */
  readonly view: {
    readonly [Field in Exclude<
      keyof ViewSnapshot,
      "seq" | "version" | "updatedAt"
    >]: ViewSnapshot[Field] extends readonly (infer Item)[] | undefined
      ? readonly Recorded<Item, "key" | "seq" | "version">[]
      : ViewSnapshot[Field];
  };
}

/** A record of everything that a scripted client has seen, as JSON that is the same in every run. */
export interface ClientRecord {
  /** The negotiated edition; absent without a connection. */
  readonly edition?: EditionName;
  /** The agent's part of the handshake; absent without a connection. */
  readonly agent?: { readonly info: unknown; readonly capabilities: unknown; readonly authMethods: unknown };
  /** The results of all steps, in order. */
  readonly steps: readonly StepRecord[];
  /** The sessions, by their names in the scenario. */
  readonly sessions: Readonly<Record<string, RecordedSession>>;
  /** Questions of the agent and their answers, in order. */
  readonly asked: readonly unknown[];
  /** The agent's requests for files and terminals, in order. */
  readonly services: readonly unknown[];
  /** The files in memory at the end, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Fields with ids that differ between runs, and their prefix in a record. */
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

const timeFields: ReadonlySet<string> = new Set(["time", "updatedAt", "createdAt", "endedAt", "waitedMs"]);

/** Numbers ids in the order of appearance, by kind. */
export class StableIds {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** The scenario's names of sessions, by id. */
  readonly #sessions: ReadonlyMap<string, string>;

  constructor(sessions: ReadonlyMap<string, string> = new Map()) {
    this.#sessions = sessions;
  }

  /** Copies a value without times and with reproducible ids. */
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
export function sessionRecord(entries: readonly Entry[], ids: StableIds): RecordedSession {
  const stable = entries.map((entry) => ids.stable(entry));
  const view = ids.stable(withoutCounts(snapshot(viewFrom(entries))));
  // as: `stable` removes exactly the fields that the type leaves out
  return { entries: stable, view } as RecordedSession;
}

/** Removes sequence numbers and versions, which a user does not see. */
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

type Fields = Readonly<Record<string, unknown>>;

/** The comparable part of a record; equal for equal scenarios. */
export function comparable(record: ClientRecord): object {
  const sessions = Object.entries(record.sessions).map(([name, { view }]) => [
    name,
    new StableIds().stable(comparableView(view as Fields)), // a view's snapshot
  ]);
  const { agent, steps, asked } = record;
  return withoutLosses({ agent, steps, asked, sessions: Object.fromEntries(sessions) }) as object; // it is one
}

function withoutLosses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLosses);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([key, item]) => {
    const isOnlyMark = key === "_meta" && isObject(item) && Object.keys(item).join() === lostKey;
    return key === lostKey || isOnlyMark ? [] : [[key, withoutLosses(item)]];
  });
  return Object.fromEntries(fields);
}

function comparableView(view: Fields): Fields {
  const {
    timeline,
    terminals,
    background: _b,
    completions: _c,
    pendingAsks: _p,
    lastResult: _l,
    ...rest
  } = view;
  const items = timeline as readonly Fields[];
  const texts = new Map((terminals as readonly Fields[]).map((each) => [each.terminalId, textOf(each)]));
  // unknown updates cannot be translated
  const shown = items.filter((item, at) => item.kind !== "unknown" && !isOnlyAsked(item, items[at + 1]));
  return { state: "idle", ...rest, timeline: shown.map((item) => comparableItem(item, texts)) };
}

function comparableItem(item: Fields, terminals: ReadonlyMap<unknown, string>): Fields {
  if (item.kind === "permission") {
    const { title, options } = item.ask as Fields;
    return { kind: item.kind, title, options, answer: item.answer };
  }
  if (item.kind !== "tool_call") return item;
  const { terminalIds: _t, capabilities: _c, content, status, reportedStatus, ...rest } = item;
  return {
    ...rest,
    status: withoutCancelled(status),
    reportedStatus: withoutCancelled(reportedStatus),
    content: (content as readonly Fields[]).flatMap((each) => comparableContent(each, terminals)),
  };
}

/** Version 1 has no cancelled tool calls. */
function withoutCancelled(status: unknown): unknown {
  return status === "cancelled" ? "failed" : status;
}

/** Diffs are texts in version 1 and patches in version 2; terminals of the agent are text in version 1. */
function comparableContent(content: Fields, terminals: ReadonlyMap<unknown, string>): Fields[] {
  if (content.type === "diff") {
    const changes = content.changes as readonly Fields[];
    return [{ type: "diff", changes: changes.map(({ operation, path }) => ({ operation, path })) }];
  }
  if (content.type !== "terminal") return [content];
  const text = terminals.get(content.terminalId) ?? "";
  return text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
}

/** Whether a tool call was made up for a question, as version 1 requires. */
function isOnlyAsked(item: Fields, next: Fields | undefined): boolean {
  if (item.kind !== "tool_call" || item.toolKind !== "other" || next?.kind !== "permission") return false;
  return (next.ask as Fields).title === item.title;
}

function textOf(terminal: Fields): string {
  return String((terminal.output as Fields).text);
}
