// agent(): creates an agent that speaks every version of the protocol.

import type { Log } from "../../jsonrpc/connection-options.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { memoryStore } from "../../model/memory-store.ts";
import { type AgentDefinition, checkAgentDefinition } from "./agent-definition.ts";
import { ServedClient } from "./served-client.ts";
import { guardedStore } from "./session/guarded-store.ts";

/** One client at an agent. */
export type AgentConnection = Pick<
  ServedClient,
  "version" | "clientInfo" | "clientMeta" | "capabilities" | "closed" | "notify" | "close"
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
export function agent(definition: AgentDefinition): Agent {
  checkAgentDefinition(definition);
  const store = guardedStore(definition.store ?? memoryStore(), definition.log ?? (() => undefined));
  return {
    definition,
    connect: (transport, { log } = {}) => new ServedClient(transport, definition, store, log),
  };
}
