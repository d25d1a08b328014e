// Translates updates and questions between the model and v2's wire. They are alike but for the listed differences
// (scripts/generate/model-differences.ts); where they come apart, this file no longer compiles.

import type { Immutable } from "../../base/objects.ts";
import type { PermissionRequest } from "../../model/ask.ts";
import { completeDecodedUpdate } from "../../model/complete-diff.ts";
import { gitPatch } from "../../model/git-patch.ts";
import type {
  Diff,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
  UnknownUpdate,
} from "../../model/update.ts";
import { lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import { stableUpdateTags, unstableUpdateTags } from "../../wire/v2/methods.gen.ts";
import type * as wire from "../../wire/v2/types.gen.ts";

type Known = Exclude<SessionUpdate, UnknownUpdate>;
type UnknownOnWire = Extract<wire.SessionUpdate, { sessionUpdate: `_${string}` | wire.UnknownTag }>;
type KnownOnWire = Exclude<wire.SessionUpdate, UnknownOnWire>;

/** Nothing for an update of an unknown kind, or of an unstable feature that is not enabled. */
export function knownFromWire(update: wire.SessionUpdate, unstable: UnstableFeatures): Known | undefined {
  if (!isKnown(update, unstable)) return undefined;
  update satisfies { sessionUpdate: Known["sessionUpdate"] };
  // as: the validator has removed the nulls that the model does not have
  const known = update as Known;
  completeDecodedUpdate(known);
  return known;
}

function isKnown(update: wire.SessionUpdate, unstable: UnstableFeatures): update is KnownOnWire {
  const { sessionUpdate: tag } = update;
  return stableUpdateTags.has(tag) || lists(unstable, unstableUpdateTags.get(tag));
}

/**
 * Nothing for an unknown update of another version: its name may mean something else here. A name that begins with an
 * underscore is an app's own, and means the same everywhere.
 */
export function updateToWire(update: SessionUpdate): Immutable<wire.SessionUpdate> | undefined {
  if (update.sessionUpdate === "tool_call_update") return toolToWire(update);
  if (update.sessionUpdate === "tool_call_content_chunk") {
    return hasTexts(update.content) ? { ...update, content: contentToWire(update.content) } : update;
  }
  if (!("unknown" in update)) return update;
  // as: an object whose tag is this name
  return update.sessionUpdate.startsWith("_") ? (update.raw as UnknownOnWire) : undefined;
}

export function askToWire(
  ask: PermissionRequest,
): Immutable<Omit<wire.RequestPermissionRequest, "sessionId">> {
  const { subject } = ask;
  if (subject?.type !== "tool_call") return ask;
  return { ...ask, subject: { ...subject, toolCall: toolToWire(subject.toolCall) } };
}

function toolToWire<Tool extends ToolCallUpdate>(
  update: Tool,
): Omit<Tool, "content"> & Immutable<wire.ToolCallUpdate> {
  const { content } = update;
  if (content == null || !content.some(hasTexts)) return update;
  return { ...update, content: content.map(contentToWire) };
}

function hasTexts(item: ToolCallContent): item is { type: "diff" } & Diff {
  return item.type === "diff" && ("newText" in item || "path" in item);
}

/** A diff of the model may have the texts of a file; v2 has changes and a patch. */
function contentToWire(item: ToolCallContent): Immutable<wire.ToolCallContent> {
  if (!hasTexts(item)) return item;
  const { path, oldText, newText, ...rest } = item;
  if (rest.patch != null || path === undefined || newText === undefined) return rest;
  const text = gitPatch(path, oldText ?? undefined, newText);
  return text === "" ? rest : { ...rest, patch: { format: "git_patch", text } };
}
