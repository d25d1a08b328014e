// Permission requests. The dialect asks with a title, version 1 about a tool call.

import { isObject, optional } from "../../base/objects.ts";
import type { RequestPermissionRequest } from "../../wire/pharo/types.gen.ts";
import { detailsOf, withDetails, withoutDetails } from "../dialects/details.ts";
import { type Answer, type Fields, metaField } from "../dialects/exchange.ts";
import { refusal } from "../dialects/refusals.ts";
import { given } from "./content.ts";

/** `title` is that of the tool call, if it was sent before. */
export function questionToPharo(params: Fields, title: string | undefined): Fields {
  const { sessionId, toolCall, options } = params;
  const call = isObject(toolCall) ? given(toolCall) : {};
  const { title: own, content, ...rest } = call;
  const list: readonly Fields[] = Array.isArray(options) ? options : [];
  return {
    sessionId,
    title: own ?? title ?? "Permission required",
    ...optional({ description: firstText(content) }),
    options: list.map(({ optionId, kind, name: label, ...others }) => ({
      optionId,
      kind,
      label,
      ...metaField(others),
    })),
    // the question has no field for it, and a bridge wants to know what is asked about
    ...withDetails(params, { toolCall: rest }),
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
  const content =
    description === undefined ? [] : [{ type: "content", content: { type: "text", text: description } }];
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

/** The dialect cannot say that a question was cancelled: it is answered with a refusal. */
export function decisionToPharo(
  result: Fields,
  { options }: RequestPermissionRequest,
): Answer & { readonly allowed?: boolean } {
  const outcome = isObject(result["outcome"]) ? result["outcome"] : {};
  const chosen = options.find(
    ({ optionId }) => outcome["outcome"] === "selected" && optionId === outcome["optionId"],
  );
  const option =
    chosen ??
    options.find(({ kind }) => kind === "reject_once") ??
    options.find(({ kind }) => kind === "reject_always");
  if (option === undefined) return { error: refusal("cancelled", "the question was cancelled") };
  return {
    result: { selectedOptionId: option.optionId, ...metaField(result) },
    allowed: option.kind === "allow_once" || option.kind === "allow_always",
  };
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
