// What can be served as an agent: agents, and what stands in front of them.

import { checkOptions, type Keys } from "../../base/known-options.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { Successor } from "../../model/successor.ts";

/** A connection to one client. */
export interface ServedConnection {
  /** Resolves with the reason when the connection has closed; never rejects. */
  readonly closed: Promise<ConnectionError>;
  /** Closes the connection. Resolves when everything behind it is closed too. */
  close(reason?: string): Promise<void>;
}

/** How one client is served. */
export interface ServeOptions {
  /** Receives errors and warnings if the definition has no `log`. */
  readonly log?: Log | undefined;
  /** Closes the connection when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** The agent behind it, for an agent in a chain of agents. */
  readonly successor?: Successor | undefined;
}

const serveKeys: Keys<ServeOptions> = { log: true, signal: true, successor: true };

/** What can be served to clients: an agent of `agent()`, a proxy of `proxy()`, or a chain of `conductor()`. */
export interface ServedAgent {
  /** What is known of it. */
  readonly definition: { readonly name: string; readonly log?: Log | undefined };
  /**
   * Serves one client. It can serve several at once.
   *
   * @throws {TypeError} When the transport already has a connection.
   * @throws {Error} When it is closed.
   */
  connect(transport: Transport, options?: ServeOptions): ServedConnection;
  /** Closes all connections. Further calls do nothing. */
  close(): Promise<void>;
}

/** Serves each client with a connection of its own, until it is closed. */
export function served(
  name: string,
  open: (transport: Transport, log: Log | undefined) => ServedConnection,
): Pick<ServedAgent, "connect" | "close"> {
  const connections = new Set<ServedConnection>();
  let isClosed = false;
  return {
    connect(transport, options = {}) {
      checkOptions(`${name}.connect`, options, serveKeys);
      if (isClosed) throw new Error(`connect: ${name} has been closed`);
      const { log, signal } = options;
      const connection = open(transport, log);
      connections.add(connection);
      const abort = (): void => void connection.close("the signal of the connection aborted");
      if (signal?.aborted) abort();
      signal?.addEventListener("abort", abort, { once: true });
      void connection.closed.then(() => {
        connections.delete(connection);
        signal?.removeEventListener("abort", abort);
      });
      return connection;
    },
    async close() {
      isClosed = true;
      await Promise.all([...connections].map((connection) => connection.close(`${name} was closed`)));
    },
  };
}
