// What an app may say, whichever version its client speaks: the model is this version's JSON, so this version's schema
// is the measure. Version 1 has fewer words and would leave the wrong ones out without a sound.

import type { PermissionAsk } from "../../model/ask.ts";
import type { ToolCallContent, Update } from "../../model/update.ts";
import { Failure, isAbsolutePath, modes, wrongType, wrongValue } from "../../wire/failure.ts";
import { RequestPermissionRequest, SessionUpdate } from "../../wire/v2/validators.gen.ts";
import type { SaidRules } from "../agent-edition.ts";

type Diff = Extract<ToolCallContent, { type: "diff" }>;

export function saidRules(unstable: boolean): SaidRules {
  const mode = modes.strict | modes.checks | modes.own | (unstable ? modes.unstable : 0);
  return {
    update(update: Update) {
      const tag = update?.sessionUpdate;
      if (tag !== "tool_call_update" && tag !== "tool_call_content_chunk") return SessionUpdate(update, mode);
      const schemaOnly = withoutTexts(update, "");
      return schemaOnly instanceof Failure ? schemaOnly : SessionUpdate(schemaOnly, mode);
    },
    permission(ask: PermissionAsk) {
      const { subject } = ask;
      const check = (value: object) => RequestPermissionRequest({ sessionId: "checked", ...value }, mode);
      if (subject?.type !== "tool_call" || subject.toolCall == null) return check(ask);
      const toolCall = withoutTexts(subject.toolCall, "/subject/toolCall");
      return toolCall instanceof Failure ? toolCall : check({ ...ask, subject: { ...subject, toolCall } });
    },
  };
}

/** Without the texts of diffs, which this version's schema does not know; they are checked here. */
function withoutTexts(tool: { content?: unknown }, place: string): object {
  const { content } = tool;
  if (!Array.isArray(content)) {
    if (!hasTexts(content)) return tool;
    return wrongTexts(content, `${place}/content`) ?? { ...tool, content: schemaOf(content) };
  }
  if (!content.some(hasTexts)) return tool;
  for (const [i, item] of content.entries()) {
    const failure = hasTexts(item) ? wrongTexts(item, `${place}/content/${i}`) : undefined;
    if (failure !== undefined) return failure;
  }
  return { ...tool, content: content.map((item) => (hasTexts(item) ? schemaOf(item) : item)) };
}

function hasTexts(item: unknown): item is Diff {
  if (typeof item !== "object" || item === null) return false;
  const { type, path, newText, oldText } = item as Partial<Diff>;
  return type === "diff" && (path !== undefined || newText !== undefined || oldText !== undefined);
}

function wrongTexts({ path, newText, oldText }: Partial<Diff>, place: string): Failure | undefined {
  if (typeof path !== "string") return wrongType(`${place}/path`, "string", path);
  if (!isAbsolutePath(path)) return wrongValue(`${place}/path`, "an absolute path", path);
  if (typeof newText !== "string") return wrongType(`${place}/newText`, "string", newText);
  if (oldText == null || typeof oldText === "string") return undefined;
  return wrongType(`${place}/oldText`, "string or null", oldText);
}

function schemaOf({ path: _path, newText: _new, oldText: _old, ...rest }: Diff): object {
  return rest;
}
