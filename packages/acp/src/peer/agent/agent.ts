// agent(): creates an agent that speaks every version of the protocol.

import type { ClientCapabilities } from "../../edition/agent-edition.ts";
import type { Edition } from "../../edition/negotiate.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { Implementation } from "../../model/content.ts";
import { memoryStore } from "../../model/memory-store.ts";
import { type AgentDefinition, checkAgentDefinition } from "./agent-definition.ts";
import { ServedClient } from "./served-client.ts";
import { guardedStore } from "./session/guarded-store.ts";
import type { PromptEnd } from "./turn/turn.ts";

/** One client at an agent. */
export interface AgentConnection {
  /** The edition that was agreed on; undefined before. */
  readonly edition: Edition | undefined;
  /** Name and version of the client, where it gave any. */
  readonly clientInfo: Implementation | undefined;
  /** The features of the client. It has none before the handshake. */
  readonly clientCapabilities: ClientCapabilities;
  /** Resolves when the connection has closed and its sessions with it; never rejects. */
  readonly closed: Promise<ConnectionError>;
  /** Sends a request outside the protocol; its name begins with `_`. */
  request(
    method: `_${string}`,
    params?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<unknown>;
  /** Sends a notification outside the protocol; its name begins with `_`. The promise waits for a slow client. */
  notify(method: `_${string}`, params?: unknown): Promise<void>;
  /** Closes the connection. Resolves when its sessions are closed too. */
  close(reason?: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface AgentConnectOptions {
  /** Receives errors and warnings, for an agent whose definition has no `log`. */
  readonly log?: Log | undefined;
  /** Closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

export interface Agent {
  readonly definition: AgentDefinition;
  /** Serves one client. Several may be served at once; they share the store. */
  connect(transport: Transport, options?: AgentConnectOptions): AgentConnection;
  /** Closes all connections, then the store. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * An agent from what it does with a prompt, and whatever else it wants to decide. The type of `session.data` follows
 * from what `session.open` returns: write `session` before `prompt`, or name the type with `agent<Data>(…)`.
 */
export function agent<Data = undefined, const End extends PromptEnd = PromptEnd>(
  given: AgentDefinition<Data, End>,
): Agent {
  // the data of a session is whatever its `open` returned: nothing else of the library looks at it
  const definition = given as AgentDefinition;
  checkAgentDefinition(definition);
  const { session, log: ownLog } = definition;
  const store = guardedStore(session?.store ?? memoryStore(), ownLog ?? (() => undefined));
  const connections = new Set<AgentConnection>();
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    await Promise.all([...connections].map((connection) => connection.close("the agent was closed")));
    await store.close();
  }

  function close(): Promise<void> {
    closing ??= closeAll();
    return closing;
  }

  return {
    definition,
    connect(transport, { log, signal } = {}) {
      if (closing !== undefined) throw new Error("agent.connect: the agent has been closed");
      const connection = new ServedClient(transport, definition, { store, log: ownLog ?? log });
      const abort = () => void connection.close("aborted");
      connections.add(connection);
      void connection.closed.then(() => {
        connections.delete(connection);
        signal?.removeEventListener("abort", abort);
      });
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort);
      return connection;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
