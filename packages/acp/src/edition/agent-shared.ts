// What the agent's sides of both versions share. Unknown answers to questions never mean yes (A89, A90, A102).

import { optional } from "../base/optional.ts";
import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer } from "../model/ask.ts";
import type { ContentBlock, Meta } from "../model/content.ts";
import type { WireCall } from "./agent-edition.ts";
import type { Activation, AgentFeatures, AgentOp, ListedSessions } from "./agent-ops.ts";
import { metaOf, nonEmpty } from "./wire-fields.ts";

/** The operation of a request that both versions write alike; undefined for others. */
export function sharedOp(method: string, params: object, activation: () => Activation): AgentOp | undefined {
  // validated by the method's row before it comes here
  const { sessionId } = params as { sessionId: string };
  switch (method) {
    case "session/new":
      return { op: "new", activation: activation() };
    case "session/fork":
      return { op: "fork", sessionId, activation: activation() };
    case "session/list": {
      const { cwd, cursor } = params as { cwd?: string | null; cursor?: string | null };
      return { op: "list", ...optional({ cwd: cwd ?? undefined, cursor: cursor ?? undefined }) };
    }
    case "session/close":
      return { op: "close", sessionId };
    case "session/delete":
      return { op: "delete", sessionId };
    case "session/prompt": {
      const { prompt } = params as { prompt: readonly ContentBlock[] };
      return { op: "prompt", sessionId, prompt, ...metaOf(params) };
    }
    default:
      return undefined;
  }
}

/** Declares each capability that is there. */
export function markers<Name extends keyof AgentFeatures>(
  can: AgentFeatures,
  ...names: readonly Name[]
): { [name in Name]?: Record<never, never> } {
  const marks: { [name in Name]?: Record<never, never> } = {};
  for (const name of names) if (can[name]) marks[name] = {};
  return marks;
}

export function systemPromptMarker(can: AgentFeatures) {
  const override = can.systemPromptOverride ? { mode: { override: {} } } : {};
  return optional({ systemPrompt: can.systemPrompt ? override : undefined });
}

export function pageToWire({ sessions, nextCursor }: ListedSessions): object {
  const listed = sessions.map(({ sessionId, cwd, additionalDirectories, title, updatedAt = "" }) => {
    const time = new Date(updatedAt);
    return {
      sessionId,
      cwd,
      ...optional({
        // another agent may list anything as its time
        updatedAt: Number.isNaN(time.getTime()) ? undefined : time.toISOString(),
        title,
        additionalDirectories: nonEmpty(additionalDirectories),
      }),
    };
  });
  return { sessions: listed, ...optional({ nextCursor }) };
}

export function permissionAnswerFromWire(result: object): PermissionAnswer {
  const { outcome } = result as { outcome?: { outcome?: unknown; optionId?: unknown; _meta?: Meta | null } };
  if (outcome?.outcome !== "selected" || typeof outcome.optionId !== "string")
    return { outcome: "cancelled" };
  const { optionId, _meta } = outcome;
  return { outcome: "selected", optionId, ...optional({ _meta: _meta ?? undefined }) };
}

export function elicitationToWire(sessionId: string, ask: ElicitationAsk): WireCall {
  return { method: "elicitation/create", params: { sessionId, ...ask } };
}

export function elicitationAnswerFromWire(result: object): ElicitationAnswer {
  const { action, content, _meta } = result as {
    action?: unknown;
    content?: Record<string, unknown> | null;
    _meta?: Meta | null;
  };
  const meta = optional({ _meta: _meta ?? undefined });
  if (action === "accept") return { action, ...optional({ content: content ?? undefined }), ...meta };
  return { action: action === "decline" ? "decline" : "cancel", ...meta };
}
