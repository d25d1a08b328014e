// Applies the child sessions of a session to a view.

import type { Update } from "../model/update.ts";
import { patched, patchedMeta } from "./patch.ts";
import type { SubagentItem } from "./session-view.ts";
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

export function upsertSubagent(
  state: ViewState,
  update: Extract<Update, { sessionUpdate: "subagent_update" }>,
): void {
  const item = subagent(state, update.sessionId);
  item.title = patched(item.title, update.title);
  item.description = patched(item.description, update.description);
  item.state = patched(item.state, update.state);
  item.cwd = patched(item.cwd, update.cwd);
  item.additionalDirectories = patched(item.additionalDirectories, update.additionalDirectories);
  item.capabilities = patched(item.capabilities, update.capabilities);
  item.meta = patchedMeta(item.meta, update._meta);
  touch(state, item);
}
