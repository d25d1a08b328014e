// Announces tool calls to the client, also while the model is still writing their arguments.

import type { ToolCallStart, Turn } from "@parley/acp";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { Meta, ToolKind } from "@parley/acp/model";
import type { ModelEvent, ToolCallPart } from "../model/model.ts";
import { oneLine } from "../text/safe-text.ts";
import { shownText, shownVerbatim } from "../tools/base/shown-content.ts";
import type { PreparedCall, Tool } from "../tools/base/tool.ts";

export type Drafts = ReturnType<typeof drafts>;

interface ShownDraft {
  readonly toolCallId: string;
  /** The arguments so far, until the path is known. */
  text: string;
  isNamed: boolean;
}

/** Finds a complete string. */
const strings = /"([\w-]+)"\s*:\s*("(?:[^"\\]|\\.)*")/g;
/** Models write the path first, so the search for it stops here. */
const maxPathOffset = 4_096;

/** The presentation of a call whose arguments are incomplete or invalid. */
export function draftPresentation(
  { name, input }: Pick<ToolCallPart, "name" | "input">,
  tools: readonly Tool[],
): { title: string; kind: ToolKind } {
  const tool = tools.find((each) => each.name === name);
  const { title, kind } = tool?.draft ?? { title: name, kind: "other" };
  const given = tool?.draft !== undefined && isObject(input) ? Object.entries(input) : [];
  const path = given.find(([key]) => tool !== undefined && isPath(tool, key))?.[1];
  return { title: oneLine(typeof path === "string" ? `${title} ${path}` : title) || "A call", kind };
}

function isPath({ aliases }: Tool, name: string): boolean {
  return name === "path" || aliases?.["path"]?.includes(name) === true;
}

export function drafts(turn: Pick<Turn, "announce" | "update">, tools: readonly Tool[]) {
  const byModelId = new Map<string, ShownDraft>();
  const ids = new Map<string, string>();
  return {
    /** Adds a piece of a call and shows the call on its first piece. */
    add({ id, name, text }: Extract<ModelEvent, { type: "tool_input" }>): void {
      const tool = tools.find((each) => each.name === name);
      const { title, kind } = tool?.draft ?? { title: name, kind: "other" };
      let draft = byModelId.get(id);
      if (draft === undefined) {
        const toolCallId = turn.announce({ title: oneLine(title) || "A call", kind, name });
        draft = { toolCallId, text: "", isNamed: tool?.draft === undefined };
        byModelId.set(id, draft);
      }
      if (draft.isNamed || tool === undefined) return;
      draft.text += text;
      const path = Array.from(draft.text.matchAll(strings)).find(([, key = ""]) => isPath(tool, key))?.[2];
      draft.isNamed = path !== undefined || draft.text.length > maxPathOffset;
      if (path === undefined) return;
      const named = oneLine(`${title} ${parsedString(path)}`);
      void turn.update({ sessionUpdate: "tool_call_update", toolCallId: draft.toolCallId, title: named });
    },
    /** Links the draft to its finished call. */
    settle(modelId: string, call: ToolCallPart): void {
      const draft = byModelId.get(modelId);
      if (draft !== undefined) ids.set(call.id, draft.toolCallId);
      byModelId.delete(modelId);
    },
    /** Ends every call that was shown, since none of them runs. */
    async abandon(reason: string): Promise<void> {
      const shown = [...ids.values(), ...Array.from(byModelId.values(), ({ toolCallId }) => toolCallId)];
      for (const toolCallId of shown) {
        const content = [shownText(reason)];
        await turn.update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed", content });
      }
    },
    /** The id under which the call was shown, if it was. */
    idOf: (call: ToolCallPart) => ids.get(call.id),
  };
}

function parsedString(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return "";
  }
}

export function callStart(
  part: ToolCallPart,
  { presentation, access }: PreparedCall,
  toolCallId: string | undefined,
): ToolCallStart {
  const { kind, locations, content = [] } = presentation;
  const title = oneLine(presentation.title);
  // a command that was cut in the title is shown in full, so that the user knows what to allow
  const whole =
    access.type === "run" && title !== access.command ? [shownVerbatim(access.command, "command.sh")] : [];
  const shown = [...whole, ...content];
  return {
    title,
    kind,
    name: part.name,
    rawInput: part.input,
    ...(locations && { locations: [...locations] }),
    ...(shown.length > 0 && { content: shown }),
    ...optional({ toolCallId, _meta: ofServer(access) }),
    cancellable: true,
  };
}

/** The form in which most agents say whose tool it is: rules of clients for `mcp` are about that. */
function ofServer(access: PreparedCall["access"]): Meta | undefined {
  // such a name would be read as that of another server
  if (access.type !== "mcp" || access.server.includes("__")) return undefined;
  return { toolName: `mcp__${access.server}__${access.tool}` };
}
