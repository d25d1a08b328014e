// Permission requests. The dialect asks with a title, version 1 about a tool call.

import { detailsOf, withDetails, withoutDetails } from "../exchange/details.ts";
import { type Answer, type Fields, metaField } from "../exchange/exchange.ts";
import { isObject, optional } from "../exchange/library.ts";
import { refusal } from "../exchange/refusals.ts";
import type { PermissionOption, RequestPermissionRequest } from "../wire/pharo/types.gen.ts";
import { given } from "./content.ts";

/** The ids of the calls that questions of the dialect are about in version 1 begin so. */
export const madeUpCall = "perm_";

/** `title` is that of the tool call, if it was sent before. */
export function questionToPharo(params: Fields, title: string | undefined): Fields {
  const { sessionId, toolCall, options } = params;
  const call = isObject(toolCall) ? given(toolCall) : {};
  const { title: own, content, ...others } = call;
  const description = firstText(content);
  // a diff says which file is meant
  const hasMore = Array.isArray(content) && content.length > (description === undefined ? 0 : 1);
  const rest = hasMore ? { ...others, content } : others;
  const isMadeUp = String(call["toolCallId"]).startsWith(madeUpCall);
  const list: readonly Fields[] = Array.isArray(options) ? options : [];
  return {
    sessionId,
    title: own ?? title ?? "Permission required",
    ...optional({ description }),
    options: list.map(({ optionId, kind, name: label, ...more }) => ({
      optionId,
      kind,
      label,
      ...metaField(more),
    })),
    // the question has no field for it, and a bridge wants to know what is asked about
    ...withDetails(params, { toolCall: isMadeUp ? undefined : rest }),
  };
}

function firstText(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  for (const item of content as readonly Fields[]) {
    const block = item["content"];
    if (item["type"] !== "content" || !isObject(block) || block["type"] !== "text") continue;
    return String(block["text"]);
  }
  return undefined;
}

/** A question about a made-up call, unless the agent is a bridge that names the call. */
export function questionToV1(
  params: RequestPermissionRequest,
  madeUpId: () => string,
): { readonly params: Fields; readonly madeUp: string | undefined } {
  const { sessionId, title, description, options } = params;
  const named = detailsOf(params)["toolCall"];
  const call = isObject(named) && typeof named["toolCallId"] === "string" ? named : undefined;
  const madeUp = call === undefined ? madeUpId() : undefined;
  // a bridge tells all of the content, of which the description is a part
  const content =
    description === undefined || call?.["content"] !== undefined
      ? []
      : [{ type: "content", content: { type: "text", text: description } }];
  return {
    madeUp,
    params: {
      sessionId,
      toolCall: {
        ...(call ?? { toolCallId: madeUp, kind: "other", status: "pending" }),
        title,
        ...(content.length === 0 ? {} : { content }),
      },
      options: options.map(({ label: name, ...rest }) => ({ name, ...rest })),
      ...withoutDetails(params, ["toolCall"]),
    },
  };
}

/** The option that the answer of version 1 names. */
function chosen(result: unknown, { options }: RequestPermissionRequest): PermissionOption | undefined {
  const outcome = isObject(result) && isObject(result["outcome"]) ? result["outcome"] : {};
  return options.find(
    ({ optionId }) => outcome["outcome"] === "selected" && optionId === outcome["optionId"],
  );
}

export function isAllowed(result: unknown, question: RequestPermissionRequest): boolean {
  const kind = chosen(result, question)?.kind;
  return kind === "allow_once" || kind === "allow_always";
}

/** Ends the made-up call of a question, which clients would show as pending for ever. */
export function callOver(question: RequestPermissionRequest, toolCallId: string, allowed: boolean): Fields {
  const status = allowed ? "completed" : "failed";
  const update = { sessionUpdate: "tool_call_update", toolCallId, status };
  return { sessionId: question.sessionId, update };
}

/** The dialect cannot say that a question was cancelled: it is answered with a refusal. */
export function decisionToPharo(result: Fields, question: RequestPermissionRequest): Answer {
  const ofKind = (wanted: string) => question.options.find(({ kind }) => kind === wanted);
  const option = chosen(result, question) ?? ofKind("reject_once") ?? ofKind("reject_always");
  if (option === undefined) return { error: refusal("cancelled", "the question was cancelled") };
  return { result: { selectedOptionId: option.optionId, ...metaField(result) } };
}

/** An answer that names no option of the question is no answer. */
export function decisionToV1(result: Fields, options: unknown): Answer {
  const optionId = result["selectedOptionId"];
  const ids = Array.isArray(options) ? options.map((option: Fields) => option["optionId"]) : [];
  if (ids.includes(optionId))
    return { result: { outcome: { outcome: "selected", optionId }, ...metaField(result) } };
  const wanted = `session/request_permission: result/selectedOptionId must be an option of the question`;
  return { error: refusal("internal_error", `${wanted}, got another string`, { path: "/selectedOptionId" }) };
}
