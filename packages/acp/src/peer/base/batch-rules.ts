// Refuses calls that may not travel in a batch (B1, B8).

import type { BatchCall } from "../../jsonrpc/connection-options.ts";

/** These change what later messages mean. */
const travelAlone = new Set([
  "initialize",
  "authenticate",
  "auth/login",
  "session/new",
  "session/load",
  "session/resume",
  "session/prompt",
]);

const orderedUpdates = new Set(["terminal_update", "terminal_output_chunk"]);

/** The reason why these calls may not travel in one batch; undefined when they may. */
export function refuseBatch(calls: readonly BatchCall[]): string | undefined {
  const terminals = new Set<string>();
  for (const { method, params } of calls) {
    if (travelAlone.has(method)) return `${method} must be sent on its own (B1)`;
    const terminal = method === "session/update" ? orderedTerminal(params) : undefined;
    if (terminal === undefined) continue;
    if (terminals.has(terminal)) return "two updates of one terminal depend on their order (B8)";
    terminals.add(terminal);
  }
  return undefined;
}

function orderedTerminal(params: unknown): string | undefined {
  const { sessionId, update } = (params ?? {}) as {
    sessionId?: unknown;
    update?: { sessionUpdate?: unknown; terminalId?: unknown };
  };
  if (typeof update?.sessionUpdate !== "string" || !orderedUpdates.has(update.sessionUpdate))
    return undefined;
  return JSON.stringify([sessionId, update.terminalId]);
}
