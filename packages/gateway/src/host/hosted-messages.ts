// What a hosted process says on its own account, to the clients and to the agent.

import type { Transport } from "@parley/acp";
import { takenMethod } from "@parley/acp/extensions";
import { idToJson, isOfTurn, takenState } from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";
import type { Question } from "./hosted-questions.ts";
import type { HostedSessions, Message } from "./hosted-sessions.ts";
import type { ProcessClient } from "./process-client.ts";

export const cancelMethod = "$/cancel_request";

interface Taken {
  readonly sessions: HostedSessions;
  /** The client that has lost it. */
  readonly client: ProcessClient;
  readonly agent: Transport | undefined;
  /** The agent's answer to initialize. */
  readonly introduction: unknown;
}

/** The turn that runs goes on. What waits behind it was never begun, and is taken back. */
export function tellTaken(sessionId: string, { sessions, client, agent, introduction }: Taken): void {
  // an agent of version 2 says when it works
  const hasStates = isObject(introduction) && introduction["protocolVersion"] === 2;
  if (hasStates && sessions.isRunning(sessionId)) client.send(stateOf(sessionId, takenState));
  client.send({ jsonrpc: "2.0", method: takenMethod, params: { sessionId } });
  for (const [at, [id, asked]] of sessions.promptsOf(client, sessionId).entries()) {
    if (hasStates || at > 0) agent?.send({ jsonrpc: "2.0", method: cancelMethod, params: { requestId: id } });
    // version 2 answers when a prompt begins, and -32800 when it is taken back
    if (hasStates) continue;
    client.send(cancelled({ id: asked.id === undefined ? id : idToJson(asked.id) }));
    asked.isSettled = true;
  }
}

export function stateOf(sessionId: string, update: object): object {
  return { jsonrpc: "2.0", method: "session/update", params: { sessionId, update } };
}

/** Whether it is part of what an agent answers. */
export function isWork({ method, params }: Message): boolean {
  const update = method === "session/update" && isObject(params) ? params["update"] : undefined;
  return isObject(update) && isOfTurn(update["sessionUpdate"]);
}

export function cancelled({ id }: Message): object {
  return { jsonrpc: "2.0", id, result: { stopReason: "cancelled" } };
}

export function withdrawn({ id }: Message): object {
  return { jsonrpc: "2.0", id, error: { code: -32800, message: "the request was cancelled" } };
}

/** For an agent whose question nobody answers. */
export function unanswered({ id, message }: Question): object {
  const isPermission = message["method"] === "session/request_permission";
  return isPermission
    ? { jsonrpc: "2.0", id, result: { outcome: { outcome: "cancelled" } } }
    : withdrawn({ id });
}
