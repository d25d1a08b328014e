// Translates updates and questions between the model and v2's wire. They are alike but for the listed differences
// (scripts/generate/model-differences.ts); where they come apart, this file no longer compiles.

import type { PermissionRequest } from "../../model/ask.ts";
import { gitPatch } from "../../model/git-patch.ts";
import type {
  Diff,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
  UnknownUpdate,
} from "../../model/update.ts";
import { stableUpdateTags, unstableUpdateTags } from "../../wire/v2/methods.gen.ts";
import type * as wire from "../../wire/v2/types.gen.ts";

type UnknownOnWire = Extract<wire.SessionUpdate, { sessionUpdate: wire.UnknownTag }>;

/** Nothing for an update of an unknown kind. */
export function knownFromWire(update: wire.SessionUpdate): Exclude<SessionUpdate, UnknownUpdate> | undefined {
  return isKnown(update) ? update : undefined;
}

function isKnown(update: wire.SessionUpdate): update is Exclude<wire.SessionUpdate, UnknownOnWire> {
  return stableUpdateTags.has(update.sessionUpdate) || unstableUpdateTags.has(update.sessionUpdate);
}

/** Nothing for an unknown update of another version: its name may mean something else here. */
export function updateToWire(update: SessionUpdate): wire.SessionUpdate | undefined {
  if (update.sessionUpdate === "tool_call_update") return toolToWire(update);
  if (update.sessionUpdate === "tool_call_content_chunk") {
    return hasTexts(update.content) ? { ...update, content: contentToWire(update.content) } : update;
  }
  return "unknown" in update ? undefined : update;
}

export function askToWire(ask: PermissionRequest): Omit<wire.RequestPermissionRequest, "sessionId"> {
  const { subject } = ask;
  if (subject?.type !== "tool_call") return ask;
  return { ...ask, subject: { ...subject, toolCall: toolToWire(subject.toolCall) } };
}

function toolToWire<Tool extends ToolCallUpdate>(update: Tool): Tool & wire.ToolCallUpdate {
  const { content } = update;
  if (content == null || !content.some(hasTexts)) return update;
  return { ...update, content: content.map(contentToWire) };
}

function hasTexts(item: ToolCallContent): item is { type: "diff" } & Diff {
  return item.type === "diff" && ("newText" in item || "path" in item);
}

/** A diff of the model may have the texts of a file; v2 has changes and a patch. */
function contentToWire(item: ToolCallContent): wire.ToolCallContent {
  if (!hasTexts(item)) return item;
  const { path, oldText, newText, ...rest } = item;
  if (rest.patch != null || path === undefined || newText === undefined) return rest;
  const text = gitPatch(path, oldText ?? undefined, newText);
  return text === "" ? rest : { ...rest, patch: { format: "git_patch", text } };
}
