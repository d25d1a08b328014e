// Checks what an application sends against the model, whichever version its client speaks.

import { Failure, modes } from "../validation/failure.ts";
import type { PermissionRequest } from "./ask.ts";
import type { SessionUpdate, ToolCallContent } from "./update.ts";
import * as validate from "./validators.gen.ts";

export interface ModelRules {
  update(update: SessionUpdate): Failure | undefined;
  permission(ask: PermissionRequest): Failure | undefined;
}

/** `features` is the part of a mode that enables unstable features. */
export function modelRules(features: number): ModelRules {
  const mode = modes.strict | modes.checks | modes.own | features;
  return {
    update: (update) => validate.SessionUpdate(update, mode) ?? diffFailure(update),
    permission: (ask) => validate.PermissionRequest(ask, mode),
  };
}

function diffFailure(update: SessionUpdate): Failure | undefined {
  if (update.sessionUpdate === "tool_call_content_chunk")
    return isEmptyDiff(update.content) ? withoutText("/content") : undefined;
  if (update.sessionUpdate !== "tool_call_update" || update.content == null) return undefined;
  const i = update.content.findIndex(isEmptyDiff);
  return i === -1 ? undefined : withoutText(`/content/${i}`);
}

/** A path needs a text or a change, which the schema cannot say. */
function isEmptyDiff(item: ToolCallContent): boolean {
  return (
    item.type === "diff" && item.path !== undefined && item.newText === undefined && item.changes.length === 0
  );
}

function withoutText(path: string): Failure {
  return new Failure(`${path}/newText`, "string", "nothing");
}
