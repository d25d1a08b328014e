// Questions and common fields as both versions write them. Unknown answers never mean yes (A89, A90, A102).

import { optional } from "../base/optional.ts";
import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer } from "../model/ask.ts";
import type { Meta } from "../model/content.ts";
import type { WireCall } from "./agent-edition.ts";

export function permissionAnswerFromWire(result: object): PermissionAnswer {
  const { outcome } = result as { outcome?: { outcome?: unknown; optionId?: unknown; _meta?: never } };
  if (outcome?.outcome !== "selected" || typeof outcome.optionId !== "string")
    return { outcome: "cancelled" };
  return {
    outcome: "selected",
    optionId: outcome.optionId,
    ...optional({ _meta: outcome._meta ?? undefined }),
  };
}

export function elicitationToWire(sessionId: string, ask: ElicitationAsk): WireCall {
  return { method: "elicitation/create", params: { sessionId, ...ask } };
}

export function elicitationAnswerFromWire(result: object): ElicitationAnswer {
  const { action, content, _meta } = result as {
    action?: unknown;
    content?: Record<string, unknown> | null;
    _meta?: never;
  };
  const meta = optional({ _meta: _meta ?? undefined });
  if (action === "accept") return { action, ...optional({ content: content ?? undefined }), ...meta };
  return { action: action === "decline" ? "decline" : "cancel", ...meta };
}

/** `_meta` of a message as the model has it: absent when there is none. */
export function metaOf(params: object): { meta?: Meta } {
  const { _meta } = params as { _meta?: Meta | null };
  return optional({ meta: _meta ?? undefined });
}

export function withMeta(meta: Meta | undefined): { _meta?: Meta } {
  return optional({ _meta: meta });
}

/** A copy of the list; undefined when it is empty. */
export function nonEmpty<Item>(list: readonly Item[]): Item[] | undefined {
  return list.length === 0 ? undefined : [...list];
}
