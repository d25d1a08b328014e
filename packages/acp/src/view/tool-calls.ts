// Applies tool calls to a view; updates may come in any order, also after the end of a call (C27, C50).

import { completeContent } from "../model/complete-diff.ts";
import type { DiffChange, ToolCallStatus } from "../model/content.ts";
import type { Diff, ToolCallContent, ToolCallUpdate } from "../model/update.ts";
import { sizeOf } from "./kept-items.ts";
import type { FileOperation, ToolCallItem } from "./session-view.ts";
import { terminal } from "./terminals.ts";
import {
  addItem,
  firstSight,
  type Mutable,
  patched,
  patchedMeta,
  touch,
  type ViewState,
} from "./view-state.ts";

type Call = Mutable<ToolCallItem>;

function toolCall(state: ViewState, toolCallId: string): Call {
  const known = state.toolCalls.get(toolCallId);
  if (known !== undefined) return known;
  const item = addItem<Call>(state, {
    kind: "tool_call",
    ...firstSight(state, `tool_call:${toolCallId}`),
    toolCallId,
    label: "other",
    title: undefined,
    name: undefined,
    toolKind: "other",
    status: "pending",
    reportedStatus: "pending",
    open: true,
    content: [],
    locations: [],
    rawInput: undefined,
    rawOutput: undefined,
    terminalIds: new Set(),
    capabilities: undefined,
    _meta: undefined,
    endedAt: undefined,
  });
  state.toolCalls.set(toolCallId, item);
  state.fold.openCalls.add(item);
  return item;
}

export function upsertToolCall(state: ViewState, update: ToolCallUpdate): void {
  const item = toolCall(state, update.toolCallId);
  const { kept } = state.fold;
  const before = kept === undefined ? 0 : sizeOfGiven(item, update);
  item.title = patched(item.title, update.title);
  item.name = patched(item.name, update.name);
  if (update.kind !== undefined) item.toolKind = update.kind ?? "other";
  item.label = item.title ?? item.name ?? item.toolKind;
  item.rawInput = patched(item.rawInput, update.rawInput);
  item.rawOutput = patched(item.rawOutput, update.rawOutput);
  item.capabilities = patched(item.capabilities, update.capabilities);
  applyStatus(state, item, update);
  if (update.content !== undefined) {
    item.content = completeContent(update.content ?? []);
    for (const content of item.content) noteContent(state, item, content);
  }
  if (update.locations !== undefined) item.locations = [...(update.locations ?? [])];
  // the kind tells the operation at the locations, and either may come first
  if (update.locations !== undefined || update.kind !== undefined) noteLocations(state, item);
  item._meta = patchedMeta(item._meta, update._meta);
  kept?.grew(item, sizeOfGiven(item, update) - before);
  touch(state, item);
}

/** The size of the fields of a call that an update changes. */
function sizeOfGiven(item: Call, update: ToolCallUpdate): number {
  let size = 0;
  for (const key of ["title", "content", "locations", "rawInput", "rawOutput", "_meta"] as const)
    if (update[key] !== undefined) size += sizeOf(item[key]);
  return size;
}

export function appendToToolCall(state: ViewState, toolCallId: string, content: ToolCallContent): void {
  const item = toolCall(state, toolCallId);
  const [shown = content] = completeContent([content]);
  item.content.push(shown);
  state.fold.kept?.grew(item, sizeOf(shown));
  noteContent(state, item, shown);
  touch(state, item);
}

function noteContent(state: ViewState, item: Call, content: ToolCallContent): void {
  if (content.type === "terminal") {
    item.terminalIds.add(content.terminalId);
    terminal(state, content.terminalId);
  } else if (content.type === "diff") {
    noteDiff(state, item, content);
  }
}

function isOpen(status: ToolCallStatus): boolean {
  return status !== "completed" && status !== "failed" && status !== "cancelled";
}

function applyStatus(state: ViewState, item: Call, update: ToolCallUpdate): void {
  if (update.status === undefined || isLateAnnouncement(item, update)) return;
  const reported = update.status ?? "pending";
  // A call that we show as cancelled changes only by its own end, or when it runs while the session is busy.
  const presumed = item.status !== item.reportedStatus;
  item.reportedStatus = reported;
  const runs = state.busy && reported !== "pending";
  if (!presumed || !isOpen(reported) || runs) show(state, item, reported);
}

/**
 * Whether this is a late announcement. Some agents announce a call with "pending" after it has started; an
 * announcement has a title, a real change to pending does not.
 */
function isLateAnnouncement(item: Call, update: ToolCallUpdate): boolean {
  return update.status === "pending" && typeof update.title === "string" && item.reportedStatus !== "pending";
}

function show(state: ViewState, item: Call, status: ToolCallStatus): void {
  item.status = status;
  item.open = isOpen(status);
  if (item.open) {
    item.endedAt = undefined;
    state.fold.openCalls.add(item);
  } else {
    item.endedAt ??= state.fold.time;
    state.fold.openCalls.delete(item);
  }
}

/** Shows open calls as cancelled, except those in the background. */
export function presumeCancelled(state: ViewState): void {
  const background = backgroundCalls(state);
  for (const item of state.fold.openCalls) {
    if (background.has(item.toolCallId)) continue;
    show(state, item, "cancelled");
    touch(state, item);
  }
}

/** Shows a refused call as cancelled, because some agents report nothing more about it. */
export function presumeRefused(state: ViewState, item: Call): void {
  if (item.status === "pending") show(state, item, "cancelled");
}

/** Shows calls that are reported as running in the background with their own status again. */
export function reviveBackground(state: ViewState): void {
  for (const toolCallId of backgroundCalls(state)) {
    const item = state.toolCalls.get(toolCallId);
    if (item === undefined || item.status === item.reportedStatus) continue;
    show(state, item, item.reportedStatus);
    touch(state, item);
  }
}

function backgroundCalls(state: ViewState): Set<string> {
  const ids = new Set<string>();
  for (const work of state.background ?? []) if (work.type === "tool_call") ids.add(work.toolCallId);
  return ids;
}

/** The operation that a call of this kind performs at its locations. */
const operationOfKind: ReadonlyMap<string, FileOperation> = new Map([
  ["read", "read"],
  ["edit", "modify"],
  ["delete", "delete"],
  ["move", "move"],
]);

function noteLocations(state: ViewState, call: ToolCallItem): void {
  const operation = operationOfKind.get(call.toolKind);
  for (const { path } of call.locations) note(state, call, path, operation);
}

function noteDiff(state: ViewState, call: ToolCallItem, diff: Diff): void {
  for (const change of diff.changes) noteChange(state, call, change);
}

function noteChange(state: ViewState, call: ToolCallItem, change: DiffChange): void {
  // a change with an unknown operation may still have a path
  const { operation, path, oldPath }: { operation: string; path?: unknown; oldPath?: unknown } = change;
  if (typeof path === "string") note(state, call, path, operation);
  if (typeof oldPath === "string") note(state, call, oldPath, operation === "move" ? "delete" : "read");
}

function note(
  state: ViewState,
  call: ToolCallItem,
  path: string,
  operation: FileOperation | undefined,
): void {
  let file = state.files.get(path);
  if (file === undefined) {
    file = {
      kind: "file",
      key: `file:${path}`,
      version: 0,
      path,
      operations: new Set(),
      toolCallIds: new Set(),
    };
    state.files.set(path, file);
  }
  const before = file.operations.size + file.toolCallIds.size;
  if (operation !== undefined) file.operations.add(operation);
  file.toolCallIds.add(call.toolCallId);
  if (file.operations.size + file.toolCallIds.size > before) touch(state, file);
}
