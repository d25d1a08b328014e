// Translates permission requests. Version 1 asks about tool calls only, the model about anything.

import { isObject, optional } from "../../base/objects.ts";
import { operationKey } from "../../base/parley-extensions.ts";
import type { PermissionOutcome, PermissionRequest, PermissionSubject } from "../../model/ask.ts";
import type { PermissionOption, ToolKind } from "../../model/content.ts";
import { type OperationPermissionSubject, operationSubject } from "../../model/custom-types.ts";
import type { ToolCallUpdate } from "../../model/update.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { Lost } from "../agent-edition.ts";
import { bothMeta, lostMeta, metaOf } from "../wire-fields.ts";
import { ToolEncoder } from "./tool-encoder.ts";
import { toolFromV1 } from "./update-decoder.ts";

/** A question that is about no tool call becomes one about a made-up call. */
export function permissionToV1(
  sessionId: string,
  ask: PermissionRequest,
  lost?: Lost,
): wire.RequestPermissionRequest {
  const { title, description, subject, options } = ask;
  const operation = operationSubject(subject);
  if (subject !== undefined && subject.type !== "tool_call" && subject.type !== "command" && !operation) {
    lost?.(`a question about ${String(subject.type)} is asked about a tool call`);
  }
  const asked: ToolCallUpdate =
    subject?.type === "tool_call"
      ? { title, ...withoutTerminals(subject.toolCall, lost), ...bothMeta(subject, subject.toolCall) }
      : {
          toolCallId: standInId(ask),
          title,
          status: "pending",
          ...standIn(subject),
          ...metaOf(subject ?? {}),
        };
  const said =
    description === undefined
      ? []
      : [{ type: "content", content: { type: "text", text: description } } as const];
  const call = said.length === 0 ? asked : { ...asked, content: [...(asked.content ?? []), ...said] };
  const { sessionUpdate: _, ...toolCall } = new ToolEncoder({ showsTerminals: false }).tool(
    { sessionUpdate: "tool_call_update", ...call },
    lost,
  );
  return {
    sessionId,
    toolCall: toolCall as wire.ToolCallUpdate, // what the encoder makes of a tool call
    options: options.map((option) => ({ ...option, kind: optionKind(option.kind, lost) })),
    ...metaOfAsk(ask, operation),
  };
}

/** What a made-up call says of the question. */
function standIn(
  subject: PermissionSubject | undefined,
): Pick<ToolCallUpdate, "kind" | "rawInput" | "locations"> {
  if (subject?.type === "command")
    return { kind: "execute", rawInput: { command: subject.command, cwd: subject.cwd } };
  const asked = operationSubject(subject);
  if (asked === undefined) return { kind: "other" };
  const { operation, resource } = asked;
  // a location is an absolute path
  const isFile = operation.startsWith("file_") && /^(?:[\\/]|[A-Za-z]:[\\/])/.test(resource);
  return {
    kind: Object.hasOwn(operationKinds, operation) ? (operationKinds[operation] ?? "other") : "other",
    rawInput: { operation, resource },
    ...(isFile ? { locations: [{ path: resource }] } : {}),
  };
}

const operationKinds: Readonly<Record<string, ToolKind>> = {
  file_read: "read",
  file_write: "edit",
  file_delete: "delete",
  terminal_execute: "execute",
  network_access: "fetch",
};

/** Peers that know the key read the operation itself. */
function metaOfAsk({ _meta }: PermissionRequest, asked: OperationPermissionSubject | undefined) {
  if (asked === undefined) return optional({ _meta });
  const { operation, resource, reason } = asked;
  return { _meta: { ..._meta, [operationKey]: { operation, resource, ...optional({ reason }) } } };
}

/** Ends the made-up call of a question, which clients would show as pending for ever. */
export function permissionOverInV1(
  ask: PermissionRequest,
  answer: PermissionOutcome,
): wire.SessionUpdate | undefined {
  // of a call of the agent, which it ends itself
  if (ask.subject?.type === "tool_call" || operationSubject(ask.subject)?.toolCallId !== undefined)
    return undefined;
  const chosen = ask.options.find(
    ({ optionId }) => answer.outcome === "selected" && optionId === answer.optionId,
  );
  const isAllowed = chosen?.kind === "allow_once" || chosen?.kind === "allow_always";
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: standInId(ask),
    status: isAllowed ? "completed" : "failed",
  };
}

function standInId(ask: PermissionRequest): string {
  return operationSubject(ask.subject)?.toolCallId ?? `ask-${hash(JSON.stringify(ask))}`;
}

/** Leaves out content with terminals: it was sent with the call, and here it is not known whose terminal it is. */
function withoutTerminals({ content, ...rest }: ToolCallUpdate, lost?: Lost): ToolCallUpdate {
  const kept = content != null && !content.some(({ type }) => type === "terminal");
  if (!kept) lostMeta(content, "the content of a call with a terminal", lost);
  return kept ? { ...rest, content } : rest;
}

export function permissionFromV1(
  params: wire.RequestPermissionRequest,
  title: string | undefined,
): PermissionRequest {
  const toolCall = toolFromV1(params.toolCall);
  const { [operationKey]: asked, ...meta } = params._meta ?? {};
  const { toolCallId } = toolCall;
  const operation = operationSubject({ ...(isObject(asked) ? asked : {}), toolCallId, type: "_operation" });
  return {
    title: toolCall.title ?? title ?? "Permission required",
    subject:
      operation === undefined ? { type: "tool_call", toolCall } : { ...operation, ...metaOf(toolCall) },
    options: params.options as readonly PermissionOption[], // validated by the method's row
    ...(operation === undefined
      ? metaOf(params)
      : optional({ _meta: Object.keys(meta).length === 0 ? undefined : meta })),
  };
}

const optionKinds = ["allow_once", "allow_always", "reject_once", "reject_always"];

/** An unknown kind must not look like an approval. */
function optionKind(kind: string, lost?: Lost): wire.PermissionOptionKind {
  if (optionKinds.includes(kind)) return kind as wire.PermissionOptionKind;
  lost?.(`the kind ${kind} of an answer: it is shown as reject_once`);
  return "reject_once";
}

/** Equal questions get equal ids: deterministic, and only to tell questions apart. */
function hash(text: string): string {
  let value = 5381;
  for (let i = 0; i < text.length; i++) value = (value * 33 + text.charCodeAt(i)) >>> 0;
  return value.toString(36);
}
