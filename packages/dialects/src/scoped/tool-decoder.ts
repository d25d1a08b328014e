// Says tool calls of the dialect in version 1.

import type * as v1 from "@parley/acp/v1";
import { withoutMeta } from "../exchange/details.ts";
import type { Fields } from "../exchange/exchange.ts";
import { detailsKey, isObject, optional } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { blockFromScoped } from "./content.ts";
import { detailText, dialectDetails, given, metaWithDetails } from "./details.ts";
import { diffText, textsOfHunks } from "./diff.ts";

const toolKinds: ReadonlySet<string> = new Set([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
]);

const statuses: Readonly<Record<scoped.ToolCallStatus, v1.ToolCallStatus>> = {
  pending: "pending",
  awaiting_permission: "pending",
  in_progress: "in_progress",
  completed: "completed",
  failed: "failed",
  denied: "failed",
  cancelled: "failed",
};

export function toolFromScoped(call: scoped.ToolCall, details: Fields): v1.SessionUpdate {
  const { id, tool, input, status, requiresPermission, location } = call;
  // what another of our machines wrote there
  const own = dialectDetails(call) ?? {};
  return {
    sessionUpdate: "tool_call",
    toolCallId: id,
    title: detailText(own["title"]) ?? titleOf(tool, input),
    name: tool,
    kind: kindOf(own["kind"]) ?? kindOfTool(tool),
    ...statusFields(status),
    ...(input === undefined ? {} : { rawInput: input }),
    ...locationFields(location),
    _meta: {
      ...withoutMeta(call, [detailsKey])._meta,
      [detailsKey]: { ...details, ...given({ status: richer(status), requiresPermission }) },
    },
  };
}

/** `isShown`: whether our client has the terminal. */
export function toolUpdateFromScoped(
  update: scoped.ToolCallUpdate,
  details: Fields,
  isShown: (terminalId: string) => boolean,
): v1.SessionUpdate {
  const { id, status, output, error, duration, location } = update;
  const own = dialectDetails(update) ?? {};
  const content: v1.ToolCallContent[] = [];
  if (output != null) content.push(outputFromScoped(output, status === "failed", isShown));
  if (error != null) {
    const text = { type: "text", text: error } as const;
    content.push({ type: "content", content: text, _meta: { [detailsKey]: { error: true } } });
  }
  const kind = kindOf(own["kind"]);
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: id,
    ...optional({ title: detailText(own["title"]), kind }),
    ...(own["input"] === undefined ? {} : { rawInput: own["input"] }),
    ...statusFields(status),
    ...(content.length === 0 ? {} : { content }),
    ...locationFields(location),
    _meta: {
      ...withoutMeta(update, [detailsKey])._meta,
      [detailsKey]: { ...details, ...given({ status: richer(status), duration }) },
    },
  };
}

/** The whole output stays in `_meta` where version 1 has less. */
function outputFromScoped(
  output: scoped.ToolOutput,
  isFailure: boolean,
  isShown: (terminalId: string) => boolean,
): v1.ToolCallContent {
  const said = { [detailsKey]: { output } };
  switch (output.type) {
    case "diff": {
      const texts = textsOfHunks(output.hunks);
      if (texts === undefined) return { ...textItem(diffText(output)), _meta: said };
      const { oldText, newText } = texts;
      return { type: "diff", path: output.path, newText, ...optional({ oldText }), _meta: said };
    }
    case "terminal": {
      const { terminalId, command, stdout, stderr } = output;
      if (isShown(terminalId)) return { type: "terminal", terminalId, _meta: said };
      const shown = [command == null ? "" : `$ ${command}`, stdout ?? "", stderr ?? ""];
      return { ...textItem(shown.filter((part) => part !== "").join("\n")), _meta: said };
    }
    case "text": {
      const content = blockFromScoped(output);
      // the text of a failure would be read as its error
      return isFailure ? { type: "content", content, _meta: said } : { type: "content", content };
    }
    default:
      return { type: "content", content: blockFromScoped(output), _meta: said };
  }
}

function textItem(text: string): Extract<v1.ToolCallContent, { type: "content" }> {
  return { type: "content", content: { type: "text", text } };
}

function statusFields(status: scoped.ToolCallStatus | null | undefined): { status?: v1.ToolCallStatus } {
  // an agent of a later document may have others
  return status == null ? {} : { status: statuses[status] ?? "in_progress" };
}

/** The status where version 1 has a poorer one. */
function richer(status: scoped.ToolCallStatus | null | undefined): string | undefined {
  return status == null || statuses[status] === status ? undefined : status;
}

function locationFields(location: scoped.Location | null | undefined): { locations?: v1.ToolCallLocation[] } {
  if (location == null) return {};
  const { path, line, column, endLine, endColumn } = location;
  const meta = metaWithDetails(location, { column, endLine, endColumn });
  return { locations: [{ path, ...optional({ line: line ?? undefined }), ...meta }] };
}

function titleOf(tool: string, input: unknown): string {
  const fields: Fields = isObject(input) ? input : {};
  const main = fields["path"] ?? fields["command"] ?? fields["url"] ?? fields["query"];
  return typeof main === "string" ? `${tool} ${main}` : tool;
}

function kindOfTool(tool: string): v1.ToolKind {
  if (tool.startsWith("fs/read")) return "read";
  if (tool.startsWith("fs/write")) return "edit";
  if (tool.startsWith("terminal/")) return "execute";
  return kindOf(tool) ?? "other";
}

function kindOf(value: unknown): v1.ToolKind | undefined {
  return typeof value === "string" && toolKinds.has(value) ? (value as v1.ToolKind) : undefined; // just looked up
}
