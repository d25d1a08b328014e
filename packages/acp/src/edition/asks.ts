// What both versions share about questions: unknown answers never mean yes (A89, A90, A102).

import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer } from "../model/ask.ts";
import type { WireCall } from "./agent-edition.ts";

export function permissionAnswerFromWire(result: object): PermissionAnswer {
  const { outcome } = result as { outcome?: { outcome?: unknown; optionId?: unknown; _meta?: never } };
  if (outcome?.outcome !== "selected" || typeof outcome.optionId !== "string")
    return { outcome: "cancelled" };
  return {
    outcome: "selected",
    optionId: outcome.optionId,
    ...(outcome._meta ? { _meta: outcome._meta } : {}),
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
  const meta = _meta ? { _meta } : {};
  if (action === "accept") return { action, ...(content == null ? {} : { content }), ...meta };
  return { action: action === "decline" ? "decline" : "cancel", ...meta };
}

/** `_meta` as the model hands it on: absent when there is none. */
export function metaOf(params: object): { meta?: { [key: string]: unknown } } {
  const { _meta } = params as { _meta?: { [key: string]: unknown } | null };
  return _meta ? { meta: _meta } : {};
}

export function withMeta(meta: { [key: string]: unknown } | undefined): {
  _meta?: { [key: string]: unknown };
} {
  return meta === undefined ? {} : { _meta: meta };
}
