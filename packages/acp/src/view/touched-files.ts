// Collects the files that tool calls name, with the operations on them.

import type { DiffChange } from "../model/content.ts";
import type { Diff } from "../model/update.ts";
import type { FileOperation, ToolCallItem } from "./session-view.ts";
import { touch, type ViewState } from "./view-state.ts";

/** The operation that a call of this kind performs at its locations. */
const operationOfKind: ReadonlyMap<string, FileOperation> = new Map([
  ["read", "read"],
  ["edit", "modify"],
  ["delete", "delete"],
  ["move", "move"],
]);

export function noteLocations(state: ViewState, call: ToolCallItem): void {
  const operation = operationOfKind.get(call.toolKind);
  for (const { path } of call.locations) note(state, call, path, operation);
}

export function noteDiff(state: ViewState, call: ToolCallItem, diff: Diff): void {
  // absent in version 1
  for (const change of diff.changes ?? []) noteChange(state, call, change);
  if (diff.path === undefined) return;
  note(state, call, diff.path, (diff.oldText ?? undefined) === undefined ? "add" : "modify");
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
