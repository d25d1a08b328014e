// Calls that the model is still writing: a long file takes a minute to write, and nobody should wonder meanwhile.

import type { Turn } from "@parley/acp";
import type { ModelEvent, ToolCallPart } from "../model/model.ts";
import type { ToolKind } from "../tools/base/tool.ts";
import { oneLine } from "./shown-call.ts";

type Piece = Extract<ModelEvent, { type: "tool_input" }>;

export interface Drafts {
  /** A piece of a call; the first one shows it. */
  add(piece: Piece): void;
  /** The call is whole, and is known as this one from now on. */
  settle(modelId: string, call: Pick<ToolCallPart, "id">): void;
  /** Under which id the call was shown, if it was. */
  idOf(call: Pick<ToolCallPart, "id">): string | undefined;
}

interface Draft {
  readonly toolCallId: string;
  /** What has been written, for as long as its path is not known. */
  text: string;
  isNamed: boolean;
}

/** How a call begins to be shown; what it does exactly is in its title when all of it is there. */
const begun: Readonly<Record<string, readonly [title: string, kind: ToolKind]>> = {
  read: ["Read", "read"],
  write: ["Write", "edit"],
  edit: ["Edit", "edit"],
  delete: ["Delete", "delete"],
  move: ["Move", "move"],
  list: ["List", "read"],
  find: ["Find", "search"],
  grep: ["Search", "search"],
  bash: ["Run a command", "execute"],
  fetch: ["Fetch", "fetch"],
  todo: ["Plan", "think"],
  ask: ["Ask a question", "other"],
  job: ["Look at a command", "read"],
  switch_mode: ["Show the plan", "switch_mode"],
};
/** Its value is whole: a quote ends it. */
const pathOf = /"path"\s*:\s*("(?:[^"\\]|\\.)*")/;
/** Models write the path first; behind this nobody looks for it. */
const maxLooked = 4_096;

/** How a call is called that nobody could understand: as what the model seems to have meant. */
export function meant({ name, input }: Pick<ToolCallPart, "name" | "input">): {
  title: string;
  kind: ToolKind;
} {
  const [title, kind] = begun[name] ?? [name, "other"];
  const path = Object.hasOwn(begun, name)
    ? (input as { path?: unknown } | null | undefined)?.path
    : undefined;
  return { title: oneLine(typeof path === "string" ? `${title} ${path}` : title) || "A call", kind };
}

export function drafts(turn: Turn): Drafts {
  const byModelId = new Map<string, Draft>();
  const ids = new Map<string, string>();
  return {
    add({ id, name, text }) {
      const [title, kind] = begun[name] ?? [name, "other"];
      let draft = byModelId.get(id);
      if (draft === undefined) {
        const toolCallId = turn.announce({ title: oneLine(title) || "A call", kind, name });
        draft = { toolCallId, text: "", isNamed: !Object.hasOwn(begun, name) };
        byModelId.set(id, draft);
      }
      if (draft.isNamed) return;
      draft.text += text;
      const [, path] = pathOf.exec(draft.text) ?? [];
      draft.isNamed = path !== undefined || draft.text.length > maxLooked;
      if (path === undefined) return;
      const named = oneLine(`${title} ${spoken(path)}`);
      void turn.update({ sessionUpdate: "tool_call_update", toolCallId: draft.toolCallId, title: named });
    },
    settle(modelId, call) {
      const draft = byModelId.get(modelId);
      if (draft !== undefined) ids.set(call.id, draft.toolCallId);
      byModelId.delete(modelId);
    },
    idOf: (call) => ids.get(call.id),
  };
}

function spoken(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return "";
  }
}
