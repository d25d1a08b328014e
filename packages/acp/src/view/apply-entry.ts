// Folds entries into a view, in place, because copies would cost more the longer a session is.

import { checkOptions, type Keys } from "../base/known-options.ts";
import type { PermissionOutcome, PermissionRequest } from "../model/ask.ts";
import { operationSubject } from "../model/custom-types.ts";
import type { Entry } from "../model/entry.ts";
import { entryFormat, upgradeEntry } from "../model/entry-format.ts";
import type { SessionUpdate } from "../model/update.ts";
import { dropOldest, KeptItems } from "./kept-items.ts";
import {
  appendToCompaction,
  appendToMessage,
  appendToSessionMessage,
  applyPrompt,
  upsertCompaction,
  upsertMessage,
  upsertSessionMessage,
  upsertSubagent,
} from "./messages.ts";
import {
  applyConfigOptions,
  applyInfo,
  applyPlan,
  applyResult,
  applyState,
  applyUsage,
  removePlan,
} from "./session-state.ts";
import type { Changed, SessionView } from "./session-view.ts";
import { appendToTerminal, upsertTerminal } from "./terminals.ts";
import { appendToToolCall, presumeRefused, upsertToolCall } from "./tool-calls.ts";
import { addItem, createState, firstSight, touch, touchPart, type ViewState } from "./view-state.ts";

/** The limits of a view. */
export interface ViewOptions {
  /** Bytes of output to keep for each terminal; older ones are dropped. Default 1 MiB. */
  readonly terminalBytes?: number | undefined;
  /**
   * About how many bytes of items to keep; the oldest are dropped and counted in `SessionView.dropped`. Items that are
   * open are kept, and so are the last ones. Default: everything.
   */
  readonly timelineBytes?: number | undefined;
}

/**
 * Creates the view of an empty session, to apply entries to. For an open session, `followSession` is simpler.
 *
 * @example
 * import { applyEntry, createView } from "@parley/acp/view";
 *
 * const view = createView();
 * applyEntry(view, { format: 1, seq: 1, time: Date.now(), kind: "prompt", messageId: "m1", prompt: [] });
 */
export function createView(options: ViewOptions = {}): SessionView {
  checkOptions("createView", options, viewKeys);
  const { terminalBytes = 1024 * 1024, timelineBytes } = options;
  return createState(terminalBytes, timelineBytes === undefined ? undefined : new KeptItems(timelineBytes));
}

/**
 * Applies an entry to the view, in place. An entry whose `seq` is not above `view.seq` is ignored, so that a replay and
 * a live stream may overlap.
 *
 * @param view - A view of `createView`, `viewFrom` or `followSession`.
 * @param entry - The next entry, in the order of `seq`.
 * @throws {RequestError} "unavailable" when the entry was written by a newer version.
 *
 * @example
 * import type { ClientSession } from "@parley/acp";
 * import { applyEntry, createView } from "@parley/acp/view";
 *
 * declare const session: ClientSession;
 *
 * const view = createView();
 * session.onEntry((entry) => {
 *   applyEntry(view, entry);
 * });
 */
export function applyEntry(view: SessionView, entry: Entry): void {
  // createView makes all views, so each is a ViewState
  const state = view as ViewState;
  if (entry.seq <= state.seq) return;
  // an entry of an older format may come from a file or another process
  const known = entry.format === entryFormat ? entry : upgradeEntry(entry);
  state.seq = known.seq;
  state.fold.time = known.time;
  apply(state, known);
  const { kept } = state.fold;
  if (kept?.isFull) dropOldest(state, kept);
}

function apply(state: ViewState, known: Entry): void {
  switch (known.kind) {
    case "update":
      return applyUpdate(state, known.update);
    case "prompt":
    case "inbox":
      return applyPrompt(state, known.messageId, known.prompt);
    case "ask":
      return applyAsk(state, known);
    case "answer":
      return applyAnswer(state, known);
    case "result":
      return applyResult(state, known.messageId, known.result);
    default:
      // not shown, or a kind that a later version has added
      return;
  }
}

/**
 * Creates a view from stored entries, for example to show an old session.
 *
 * @param entries - The entries of one session, in the order of `seq`.
 * @throws {RequestError} "unavailable" when an entry was written by a newer version.
 *
 * @example
 * import type { Entry } from "@parley/acp";
 * import { sqliteStore } from "@parley/acp/node";
 * import { parseEntry } from "@parley/acp/store";
 * import { viewFrom } from "@parley/acp/view";
 *
 * const store = sqliteStore("/var/lib/my-agent/sessions.db");
 * const entries: Entry[] = [];
 * for await (const page of store.read("session-1")) entries.push(...page.map(parseEntry));
 * console.log(viewFrom(entries).title);
 */
export function viewFrom(entries: Iterable<Entry>, options?: ViewOptions): SessionView {
  const view = createView(options);
  for (const entry of entries) applyEntry(view, entry);
  return view;
}

/**
 * Returns what has changed since a version, least recent first. A removed plan is not listed, but the part "plans" is.
 *
 * @param version - The `view.version` that you have drawn last; 0 for everything.
 *
 * @example
 * import { changesSince, type SessionView } from "@parley/acp/view";
 *
 * let drawn = 0;
 *
 * export function draw(view: SessionView): void {
 *   for (const changed of changesSince(view, drawn)) console.log("draw again:", changed.key);
 *   drawn = view.version;
 * }
 */
export function changesSince(view: SessionView, version: number): Changed[] {
  // as above
  return (view as ViewState).fold.changes.since(version);
}

function applyUpdate(state: ViewState, update: SessionUpdate): void {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return appendToMessage(state, "agent_message", update);
    case "agent_thought_chunk":
      return appendToMessage(state, "agent_thought", update);
    case "user_message_chunk":
      return appendToMessage(state, "user_message", update);
    case "tool_call_update":
      return upsertToolCall(state, update);
    case "tool_call_content_chunk":
      return appendToToolCall(state, update.toolCallId, update.content);
    case "terminal_output_chunk":
      return appendToTerminal(state, update.terminalId, update.data);
    case "terminal_update":
      return upsertTerminal(state, update);
    case "user_message":
    case "agent_message":
    case "agent_thought":
      return upsertMessage(state, update.sessionUpdate, update);
    case "state_update":
      return applyState(state, update);
    case "usage_update":
      return applyUsage(state, update);
    case "plan_update":
      return applyPlan(state, update);
    case "plan_removed":
      return removePlan(state, update.planId);
    case "session_info_update":
      return applyInfo(state, update);
    case "config_option_update":
      return applyConfigOptions(state, update);
    case "available_commands_update":
      state.commands = [...update.availableCommands];
      return touchPart(state, "commands");
    default:
      return applyRareUpdate(state, update);
  }
}

function applyRareUpdate(state: ViewState, update: SessionUpdate): void {
  switch (update.sessionUpdate) {
    case "notice":
      // a notice has no id
      addItem(state, { kind: "notice", ...firstSight(state, `notice:${state.seq}`), notice: update });
      return;
    case "compaction_update":
      return upsertCompaction(state, update);
    case "compaction_summary_chunk":
      return appendToCompaction(state, update.compactionId, update.content);
    case "subagent_update":
      return upsertSubagent(state, update);
    case "session_message":
      return upsertSessionMessage(state, update);
    case "session_message_chunk":
      return appendToSessionMessage(state, update);
    default:
      addItem(state, {
        kind: "unknown",
        ...firstSight(state, `unknown:${state.seq}`),
        sessionUpdate: update.sessionUpdate,
        raw: "raw" in update ? update.raw : update,
      });
  }
}

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

const viewKeys: Keys<ViewOptions> = { terminalBytes: true, timelineBytes: true };
