// Reduces a record to what both protocol versions can express, without the differences in docs/versions.md.

import { isObject } from "../base/objects.ts";
import { type ClientRecord, StableIds } from "./client-record.ts";

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

/** The mark of a relay for data that it could not translate. */
const lossMark = "parley.dev/lost";

function withoutLosses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLosses);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([key, item]) => {
    const isOnlyMark = key === "meta" && isObject(item) && Object.keys(item).join() === lossMark;
    return key === lossMark || isOnlyMark ? [] : [[key, withoutLosses(item)]];
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
    lastOutcome: _l,
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
