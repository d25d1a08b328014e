// Applies questions to the user and their answers to a view.

import type { PermissionOutcome, PermissionRequest } from "../model/ask.ts";
import { operationSubject } from "../model/custom-types.ts";
import type { Entry } from "../model/entry.ts";
import { presumeRefused, upsertToolCall } from "./tool-calls.ts";
import { addItem, firstSight, touch, touchPart, type ViewState } from "./view-state.ts";

type EntryOf<Kind extends Entry["kind"]> = Extract<Entry, { kind: Kind }>;

export function applyAsk(state: ViewState, entry: EntryOf<"ask">): void {
  const { askId } = entry;
  if ("permission" in entry) {
    const { subject } = entry.permission;
    // first, so that the user sees the call that the question is about (C60)
    if (subject?.type === "tool_call") upsertToolCall(state, subject.toolCall);
  }
  const known = state.fold.asks.get(askId);
  const begin = known ?? firstSight(state, `ask:${askId}`);
  const base = { key: begin.key, version: state.seq, seq: begin.seq, time: begin.time, askId };
  const item =
    "permission" in entry
      ? { kind: "permission" as const, ...base, ask: entry.permission, answer: undefined }
      : { kind: "elicitation" as const, ...base, ask: entry.elicitation, answer: undefined };
  if (known === undefined) {
    addItem(state, item);
    state.fold.asks.set(askId, item);
    state.pendingAsks.set(askId, item);
  } else {
    // asked again, for instance after a reconnect
    Object.assign(known, item);
    state.pendingAsks.set(askId, known);
    touch(state, known);
  }
  touchPart(state, "asks");
}

/** Applies the first answer to a question; others are ignored. */
export function applyAnswer(state: ViewState, entry: EntryOf<"answer">): void {
  const item = state.pendingAsks.get(entry.askId);
  if (item === undefined) return;
  if (item.kind === "permission" && "permission" in entry) {
    item.answer = entry.permission;
    const { subject } = item.ask;
    const toolCallId =
      subject?.type === "tool_call" ? subject.toolCall.toolCallId : operationSubject(subject)?.toolCallId;
    const call = toolCallId === undefined ? undefined : state.toolCalls.get(toolCallId);
    if (call !== undefined) {
      const isRefused = isRefusal(item.ask, entry.permission);
      // one that has not begun may have waited for questions about others first
      const waited =
        call.status === "pending" ? entry.time - call.time : (call.waitedMs ?? 0) + entry.time - item.time;
      call.waitedMs = Math.max(0, waited);
      call.isRefused = isRefused && entry.permission.outcome === "selected";
      touch(state, call);
      if (isRefused) presumeRefused(state, call);
    }
  } else if (item.kind === "elicitation" && "elicitation" in entry) item.answer = entry.elicitation;
  else return;
  state.pendingAsks.delete(entry.askId);
  touch(state, item);
  touchPart(state, "asks");
}

function isRefusal(ask: PermissionRequest, answer: PermissionOutcome): boolean {
  if (answer.outcome !== "selected") return true;
  const kind = ask.options.find((option) => option.optionId === answer.optionId)?.kind;
  return kind === "reject_once" || kind === "reject_always";
}
