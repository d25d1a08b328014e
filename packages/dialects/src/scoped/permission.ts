// Translates questions: the dialect asks for an operation on a resource, version 1 about a tool call.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import type { Fields } from "../exchange/exchange.ts";
import { detailsKey, isObject, operationKey, optional } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { detailText, metaValue, metaWithDetails } from "./details.ts";

const operations: Readonly<Partial<Record<v1.ToolKind, string>>> = {
  read: "file_read",
  search: "file_read",
  edit: "file_write",
  move: "file_write",
  delete: "file_delete",
  execute: "terminal_execute",
  fetch: "network_access",
};

const kinds: Readonly<Record<string, v1.ToolKind>> = {
  file_read: "read",
  file_write: "edit",
  file_delete: "delete",
  terminal_execute: "execute",
  network_access: "fetch",
};

/** What was said about a call before the question. */
export interface KnownCall {
  readonly kind?: v1.ToolKind | undefined;
  readonly title?: string | undefined;
  /** What it is about. */
  readonly resource?: string | undefined;
}

/** The scopes of the document, and the refusals, as options. The words are their ids. */
const options: v1.PermissionOption[] = [
  { optionId: "once", name: "Allow once", kind: "allow_once" },
  { optionId: "session", name: "Allow for this session", kind: "allow_always" },
  { optionId: "workspace", name: "Allow in this workspace", kind: "allow_always" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  { optionId: "reject_always", name: "Always reject", kind: "reject_always" },
];

/** `toolCallId`: of the call that it is about, or a made-up one. */
export function questionFromScoped(
  params: scoped.RequestPermissionRequest,
  toolCallId: string,
): v1.RequestPermissionRequest {
  const { sessionId, operation, resource, reason } = params;
  const said = reason == null ? {} : { content: [textContent(reason)] };
  return {
    sessionId,
    toolCall: {
      toolCallId,
      title: `${operation}: ${resource}`,
      kind: kinds[operation] ?? "other",
      status: "pending",
      rawInput: { operation, resource },
      ...said,
    },
    options: options.map((option) => ({ ...option })),
    ...withMetaKeys(params, {
      [operationKey]: { operation, resource, ...optional({ reason: reason ?? undefined }) },
    }),
  };
}

function textContent(text: string): v1.ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

export function answerToScoped(result: object): scoped.RequestPermissionResponse {
  const { outcome } = result as v1.RequestPermissionResponse; // an answer of our side
  const chosen = outcome.outcome === "selected" ? outcome.optionId : undefined;
  const meta = withoutMeta(result, [detailsKey]);
  switch (chosen) {
    case "once":
      return { granted: true, scope: "once", ...meta };
    case "session":
    case "workspace":
    case "always":
      return { granted: true, remember: true, scope: chosen, ...meta };
    case "reject_always":
      return { granted: false, remember: true, ...meta };
    default:
      return { granted: false, ...meta };
  }
}

/** `known`: what was said about the call before. Whoever asks gives a reason. */
export function questionToScoped(
  params: v1.RequestPermissionRequest,
  known: KnownCall,
): scoped.RequestPermissionRequest {
  const { sessionId, toolCall } = params;
  const { toolCallId, title } = toolCall;
  const asked = metaValue(params, operationKey);
  const own: Fields = isObject(asked) ? asked : {};
  const shown = title ?? known.title;
  const operation =
    detailText(own["operation"]) ?? operations[toolCall.kind ?? known.kind ?? "other"] ?? "mcp_tool";
  const resource =
    detailText(own["resource"]) ??
    resourceOf(toolCall, toolCall.kind ?? known.kind) ??
    known.resource ??
    shown ??
    toolCallId;
  // a question that came from the dialect has a reason if it was given one
  const reason = isObject(asked) ? detailText(own["reason"]) : (firstText(toolCall) ?? shown);
  return {
    sessionId,
    operation,
    resource,
    ...optional({ reason }),
    // a call that was made up for a question of the dialect stays ours
    ...(isObject(asked) && isMadeUp(toolCallId) ? {} : { toolCallId }),
    ...withoutMeta(params, [operationKey, detailsKey]),
  };
}

export function madeUpId(n: number): string {
  return `perm-${n}`;
}

function isMadeUp(toolCallId: string): boolean {
  return /^perm-\d+$/.test(toolCallId);
}

/** What a call is about, as far as it says: a command, a file or an address. */
export function resourceOf(
  { locations, content, rawInput }: Partial<v1.ToolCallUpdate>,
  kind: v1.ToolKind | null | undefined,
): string | undefined {
  const input: Fields = isObject(rawInput) ? rawInput : {};
  const command = commandOf(input);
  if (kind === "execute" && command !== undefined) return command;
  const changed = content?.find((item) => item.type === "diff")?.path;
  const named = detailText(input["path"] ?? input["file_path"]) ?? command ?? detailText(input["url"]);
  return locations?.[0]?.path ?? changed ?? named;
}

/** A program alone would say less than what is run. */
function commandOf({ command, args }: Fields): string | undefined {
  const words = [command, args].flat().filter((word) => typeof word === "string");
  return command === undefined || words.length === 0 ? undefined : words.join(" ");
}

function firstText({ content }: v1.ToolCallUpdate): string | undefined {
  for (const item of content ?? [])
    if (item.type === "content" && item.content.type === "text") return item.content.text;
  return undefined;
}

/** The option that says most nearly what was answered. An unclear answer is never a yes. */
export function answerFromScoped(
  result: object,
  offered: readonly v1.PermissionOption[],
): v1.RequestPermissionResponse {
  const { granted, remember, scope } = result as scoped.RequestPermissionResponse; // checked by its row
  const lasts = scope == null ? remember === true : scope !== "once";
  const wanted: v1.PermissionOptionKind[] = granted
    ? lasts
      ? ["allow_always", "allow_once"]
      : ["allow_once"]
    : remember === true
      ? ["reject_always", "reject_once"]
      : ["reject_once", "reject_always"];
  const same = granted
    ? offered.find(({ optionId, kind }) => optionId === scope && wanted.includes(kind))
    : undefined;
  const byKind = wanted.map((kind) => offered.find((option) => option.kind === kind));
  const chosen = same ?? byKind.find((option) => option !== undefined);
  const meta = metaWithDetails(result, { scope, remember });
  return chosen === undefined
    ? { outcome: { outcome: "cancelled" }, ...meta }
    : { outcome: { outcome: "selected", optionId: chosen.optionId }, ...meta };
}
