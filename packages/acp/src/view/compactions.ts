// Applies compactions of the context to a view.

import type { ContentBlock } from "../model/content.ts";
import { appendBlock, ownBlocks, patched, patchedMeta } from "./patch.ts";
import type { CompactionItem, UpdateOf } from "./session-view.ts";
import { findOrAdd, firstSight, type Mutable, touch, type ViewState } from "./view-state.ts";

function compaction(state: ViewState, compactionId: string): Mutable<CompactionItem> {
  return findOrAdd(state, state.fold.compactions, compactionId, () => ({
    kind: "compaction",
    ...firstSight(state, `compaction:${compactionId}`),
    compactionId,
    status: "in_progress",
    summary: [],
    error: undefined,
    meta: undefined,
  }));
}

export function upsertCompaction(state: ViewState, update: UpdateOf<"compaction_update">): void {
  const item = compaction(state, update.compactionId);
  item.status = update.status;
  if (update.summary !== undefined) item.summary = ownBlocks(update.summary ?? []);
  item.error = patched(item.error, update.error);
  item.meta = patchedMeta(item.meta, update._meta);
  touch(state, item);
}

export function appendToCompaction(state: ViewState, compactionId: string, content: ContentBlock): void {
  const item = compaction(state, compactionId);
  appendBlock(item.summary, content);
  touch(state, item);
}
