// agent(): creates an agent that speaks every version of the protocol.

import { checkOptions, type Keys } from "../../base/known-options.ts";
import type { ClientCapabilities } from "../../edition/agent-edition.ts";
import type { EditionName } from "../../edition/negotiate.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { argumentText, type ConnectionError } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { memoryStore } from "../../log/memory-store.ts";
import type { Implementation, Meta } from "../../model/content.ts";
import type { Successor } from "../../model/successor.ts";
import { servedBehind } from "../base/own-proxies.ts";
import { hostedProviders } from "../mcp/hosted-servers.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { checkAgentDefinition } from "./check-definition.ts";
import { LiveSessions } from "./live-sessions.ts";
import { ServedClient } from "./served-client.ts";
import { guardedStore } from "./session/guarded-store.ts";

/** The connection of an agent to one client. */
export interface AgentConnection {
  /** The negotiated edition of the protocol; undefined before the handshake. */
  readonly edition: EditionName | undefined;
  /** The name and version of the client; undefined if it sent none. */
  readonly clientInfo: Implementation | undefined;
  /** The features of the client. All are off before the handshake. */
  readonly clientCapabilities: ClientCapabilities;
  /** Custom data of the client's handshake. */
  readonly clientMeta: Meta | undefined;
  /** Resolves with the reason when the connection and its sessions have closed; never rejects. */
  readonly closed: Promise<ConnectionError>;
  /** Sends a request outside the protocol; its name begins with `_`. */
  request(
    method: `_${string}`,
    params?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<unknown>;
  /** Sends a notification outside the protocol; its name begins with `_`. The promise waits while the client is slow. */
  notify(method: `_${string}`, params?: unknown): Promise<void>;
  /** Closes the connection. Resolves when its sessions are closed too. */
  close(reason?: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * How an agent serves one client.
 *
 * @inline
 */
interface AgentConnectOptions {
  /** Receives errors and warnings if the definition has no `log`. */
  readonly log?: Log | undefined;
  /** Closes the connection when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The owner of the sessions: those of one principal are unknown to every other. Default: the one local user. A server
   * passes what it has checked, never what a client says of itself.
   */
  readonly principal?: string | undefined;
  /** The agent behind this one: `turn.successor`. A conductor passes it. */
  readonly successor?: Successor | undefined;
}

const connectKeys: Keys<AgentConnectOptions> = { log: true, signal: true, principal: true, successor: true };

/** An agent, created by `agent()`. It serves any number of clients. */
export interface Agent {
  /** The definition that was passed to `agent()`. */
  readonly definition: AgentDefinition;
  /**
   * Serves one client. It can serve several at once; they share the store, and a client can take a session over from
   * another one. `log` receives errors and warnings if the definition has no `log`; `signal` closes the connection when it
   * aborts; `principal` says whose sessions the client sees.
   *
   * @throws {TypeError} When the transport already has a connection, or the principal is not a string.
   * @throws {Error} When the agent is closed.
   */
  connect(transport: Transport, options?: AgentConnectOptions): AgentConnection;
  /**
   * Asks `auth.status` and tells the clients whose last known status differs. Call it when the login has changed outside
   * `login` and `logout`. Has no effect without the unstable feature "auth_status". Never rejects.
   *
   * @experimental
   */
  reportAuthStatus(): Promise<void>;
  /** Closes all connections, then the store. Further calls do nothing. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates an agent. It needs a name, a version and `prompt`, which answers one prompt. The type of `session.data` is
 * inferred from the result of `session.open`, if `session` is written before `prompt`.
 *
 * @param given What the agent does and offers.
 * @returns The agent. Connect it to a client, or serve it on stdio with `serveStdio` of `@parley/acp/node`.
 * @throws {TypeError} When a part of the definition is missing, wrong or unknown.
 * @example
 * import { agent } from "@parley/acp";
 * import { serveStdio } from "@parley/acp/node";
 *
 * const counting = agent({
 *   name: "counting-agent",
 *   version: "1.0.0",
 *   session: { open: () => ({ prompts: 0 }) },
 *   async prompt(turn) {
 *     const { data } = turn.session;
 *     data.prompts += 1;
 *     await turn.say(`This is prompt ${data.prompts}: ${turn.text}`);
 *   },
 * });
 *
 * await serveStdio(counting);
 */
export function agent<Data = undefined>(given: AgentDefinition<Data>): Agent {
  // the data of a session is whatever its `open` returned: nothing else of the library looks at it
  const definition = given as AgentDefinition;
  checkAgentDefinition(definition);
  const { session } = definition;
  const ownLog = definition.log;
  const store = guardedStore(session?.store ?? memoryStore(), guardedLog(ownLog));
  const live = new LiveSessions(definition);
  const hosted = hostedProviders(definition.mcpServers ?? {}, definition.mcp);
  const connections = new Set<ServedClient>();
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
    connect(transport, options = {}) {
      checkOptions("agent.connect", options, connectKeys);
      const { log, signal, principal, successor } = options;
      if (closing !== undefined) throw new Error("agent.connect: the agent has been closed");
      checkPrincipal(principal);
      const parts = { store, live, hosted, principal, successor, log: ownLog ?? log };
      const connection = new ServedClient(servedBehind(definition, transport), definition, parts);
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
    async reportAuthStatus() {
      await Promise.all([...connections].map((connection) => connection.reportAuthStatus()));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An empty name would make all clients without one the same. */
function checkPrincipal(principal: unknown): void {
  if (principal === undefined || (typeof principal === "string" && principal !== "")) return;
  const got = principal === "" ? "an empty text" : argumentText(principal);
  throw new TypeError(`agent.connect: principal must be a text that names the client, got ${got}`);
}
