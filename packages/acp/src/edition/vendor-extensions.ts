// Names outside the schema that version 1 agents and clients in the field agree on.

import { isObject } from "../base/objects.ts";
import { RequestError } from "../jsonrpc/errors.ts";
import type { Meta } from "../model/content.ts";

/** The request that gives a message to work that is running, and the key of the agent's `_meta` that offers it. */
export const steeringMethod = "_session/steering";
export const steeringKey = "steering";

/** The key of the `_meta` of a client's capabilities by which it asks for the output of terminals. */
export const terminalOutputKey = "terminal_output";

/**
 * The fate of a message for running work: it joined the work, began a turn of its own, or must be sent as a prompt,
 * since nothing runs. The last only if the request allows it by `_meta.steering.idleBehavior`.
 */
export type SteeringOutcome = "injected" | "startedNewTurn" | "promptRequired";

/** Throws a RequestError for an answer that says that the message was not taken. */
export function steeringOutcome(result: unknown): SteeringOutcome {
  const outcome = isObject(result) ? result["outcome"] : undefined;
  if (outcome === "injected" || outcome === "startedNewTurn" || outcome === "promptRequired") return outcome;
  const message = `the agent could not take the message: ${String(outcome).slice(0, 100)}`;
  throw new RequestError("internal_error", message, { data: { reason: "steering_failed" } });
}

/** Whether the sender of such a request keeps a message that nothing that runs can take. */
export function keepsWhenIdle(meta: Meta | undefined): boolean {
  const steering = meta?.[steeringKey];
  return isObject(steering) && steering["idleBehavior"] === "promptRequired";
}

/** The request to an MCP server that an agent hosts, in the dialect whose document has it. */
export const dialectMcpMethod = "_mcp/request";
