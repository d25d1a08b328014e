// agent(): creates an agent that speaks every version of the protocol.

import type { Log } from "../../jsonrpc/connection-options.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { memoryStore } from "../../model/memory-store.ts";
import { type AgentDefinition, type AgentHooks, checkAgentDefinition } from "./agent-definition.ts";
import { ServedClient } from "./served-client.ts";
import { guardedStore } from "./session/guarded-store.ts";
import type { TurnEnd } from "./turn/turn.ts";

/** One client at an agent. */
export type AgentConnection = Pick<
  ServedClient,
  "edition" | "clientInfo" | "clientMeta" | "capabilities" | "closed" | "notify" | "close"
>;

export interface Agent {
  readonly definition: AgentDefinition;
  /**
   * Serves one client. Several may be served at once; they share the store. `log` is for an agent whose definition
   * has none.
   */
  connect(transport: Transport, options?: { readonly log?: Log }): AgentConnection;
}

/** An agent from what it does with a prompt, and whatever else it wants to decide. */
export function agent<const End extends TurnEnd>(definition: AgentDefinition<End>): Agent {
  return agentWith(definition, {});
}

/** An agent with hooks for the scripted one. */
export function agentWith(definition: AgentDefinition, hooks: AgentHooks): Agent {
  checkAgentDefinition(definition);
  const { session, log: ownLog } = definition;
  const store = guardedStore(session?.store ?? memoryStore(), ownLog ?? (() => undefined));
  return {
    definition,
    connect: (transport, { log } = {}) =>
      new ServedClient(transport, definition, { store, hooks, log: ownLog ?? log }),
  };
}
