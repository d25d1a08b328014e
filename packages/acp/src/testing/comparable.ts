// The part of a record that both versions can say, for tests that hold one version against the other, or a bridge
// between them against none. What is left out here is what docs/versions.md lists as lost or made up.

import { isObject } from "../base/is-object.ts";
import { type ClientRecord, StableIds } from "./client-record.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What both versions say of a session, and the outcomes of all steps. Equal for the same scenarios. */
export function comparable(record: ClientRecord): object {
  const sessions = Object.entries(record.sessions).map(([name, { view }]) => [
    name,
    new StableIds().stable(comparableView(view as Fields)), // a view's snapshot
  ]);
  const { agent, steps, asked } = record;
  return withoutLosses({ agent, steps, asked, sessions: Object.fromEntries(sessions) }) as object; // it is one
}

/** A relay marks what it could not carry over: that is about the relay, not about the session. */
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
  // what no version knows cannot be said in another one
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

/** Version 1 has the texts of a diff and version 2 a patch; a terminal of the agent's is text in version 1. */
function comparableContent(content: Fields, terminals: ReadonlyMap<unknown, string>): Fields[] {
  if (content.type === "diff") {
    const changes = content.changes as readonly Fields[];
    return [{ type: "diff", changes: changes.map(({ operation, path }) => ({ operation, path })) }];
  }
  if (content.type !== "terminal") return [content];
  const text = terminals.get(content.terminalId) ?? "";
  return text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
}

/** A question about nothing is asked about a tool call in version 1, made for the purpose. */
function isOnlyAsked(item: Fields, next: Fields | undefined): boolean {
  if (item.kind !== "tool_call" || item.toolKind !== "other" || next?.kind !== "permission") return false;
  return (next.ask as Fields).title === item.title;
}

function textOf(terminal: Fields): string {
  return String((terminal.output as Fields).text);
}
