// Applies the child sessions of a session to a view.

import { patchedMeta, patchFields } from "./patch.ts";
import type { SubagentItem, UpdateOf } from "./session-view.ts";
import { findOrAdd, firstSight, type Mutable, touch, type ViewState } from "./view-state.ts";

function subagent(state: ViewState, sessionId: string): Mutable<SubagentItem> {
  return findOrAdd(state, state.subagents, sessionId, () => ({
    kind: "subagent",
    ...firstSight(state, `subagent:${sessionId}`),
    sessionId,
    title: undefined,
    description: undefined,
    state: undefined,
    cwd: undefined,
    additionalDirectories: undefined,
    capabilities: undefined,
    meta: undefined,
  }));
}

export function upsertSubagent(state: ViewState, update: UpdateOf<"subagent_update">): void {
  const item = subagent(state, update.sessionId);
  patchFields(item, update, [
    "title",
    "description",
    "state",
    "cwd",
    "additionalDirectories",
    "capabilities",
  ]);
  item.meta = patchedMeta(item.meta, update._meta);
  touch(state, item);
}
