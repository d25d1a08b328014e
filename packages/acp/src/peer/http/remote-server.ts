// remoteServer(): serves an agent to remote clients, over Streamable HTTP and WebSocket.

import { checkOptions } from "../../base/known-options.ts";
import { remoteServerKeys } from "../../base/option-keys.gen.ts";
import { takenMethod } from "../../base/parley-extensions.ts";
import { defaultConnectionLimits } from "../../jsonrpc/connection-options.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import { idKey, idProblem } from "../../jsonrpc/message-id.ts";
import {
  RemoteConnections,
  type RemoteProtocol,
  type SocketUpgrade,
} from "../../transport/server/remote-connections.ts";
import type {
  RemoteConnection,
  RemoteServerOptions,
  ServedRouting,
} from "../../transport/server/remote-options.ts";
import { sessionOf } from "../../wire/decode.ts";
import type { MethodFacts } from "../../wire/method-row.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import type { Envelope } from "./session-routing.ts";

/** A server for remote clients, created by `remoteServer()`. It keeps its connections in the memory of this process. */
export interface RemoteServer {
  /** Answers one request. Never rejects unless `authorize` does. */
  fetch(request: Request): Promise<Response>;
  /** Says how to answer a request for a WebSocket, or refuses it. */
  upgrade(request: Request): Promise<SocketUpgrade | Response>;
  /** The connections, attached and detached. */
  readonly connections: readonly RemoteConnection[];
  /** New connections get 503 from now on; those that are open go on, and can be resumed. */
  stopAccepting(): void;
  /** Closes all connections. Requests afterwards get 503. */
  close(reason?: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serves an agent to remote clients over Streamable HTTP and WebSocket, in every runtime that has the standard `Request`
 * and `Response`. A client that was cut off finds its connection again for `graceMs`. It does not check who asks: give
 * it `authorize`, and do not listen on other interfaces than loopback without it.
 *
 * @param options `connect` serves each connection; the rest has defaults.
 * @throws {TypeError} When an option is unknown or has a wrong value.
 * @example
 * import { agent } from "@parley/acp";
 * import { remoteServer } from "@parley/acp/server";
 *
 * const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });
 * const server = remoteServer({ connect: (transport) => echo.connect(transport) });
 * const response = await server.fetch(new Request("http://localhost/acp", { method: "PUT" }));
 * console.log(response.status); // 405
 */
export function remoteServer(options: RemoteServerOptions): RemoteServer {
  checkOptions("remoteServer", options, remoteServerKeys);
  // only the compiler knows that it is one
  const connect: unknown = options.connect;
  if (typeof connect !== "function")
    throw new TypeError(`remoteServer: expected connect to be a function, got ${argumentText(connect)}`);
  const served = new RemoteConnections(options, acpProtocol);
  return {
    fetch: (request) => served.fetch(request),
    upgrade: (request) => served.upgrade(request),
    get connections() {
      return served.connections;
    },
    stopAccepting: () => served.stopAccepting(),
    close: (reason) => served.close(reason),
    [Symbol.asyncDispose]: () => served.close(),
  };
}

interface Asked {
  readonly facts: MethodFacts | undefined;
  readonly session: string | undefined;
  /** It takes up a session that another client had taken. */
  readonly wasTaken: boolean;
}

const { maxIdLength, maxInFlight } = defaultConnectionLimits;

export const acpProtocol: RemoteProtocol = {
  opens: (message) => envelope(message).method === "initialize",
  routing: () => new AcpServedRouting(),
};

class AcpServedRouting implements ServedRouting {
  /** The client's requests that are not answered. */
  readonly #asked = new Map<string, Asked>();
  /** The agent's requests that are about a session, by id: the answer has to name it. */
  readonly #questions = new Map<string, string>();
  readonly #sessions = new Set<string>();
  /** Those that another client has now: nothing more comes on their streams. */
  readonly #taken = new Set<string>();

  received(message: object, named: string | undefined): string | undefined {
    const { id, method, params } = envelope(message);
    // what waits for an answer is kept here
    const long = typeof id === "string" ? idProblem(id, "any", maxIdLength) : undefined;
    if (long !== undefined) return long;
    if (method !== undefined && id !== undefined && this.#asked.size >= maxInFlight)
      return `expected at most ${maxInFlight} requests without an answer; wait for some`;
    const key = idKey(id);
    const session = method === undefined ? this.#questions.get(key) : sessionOf(params);
    if (session !== undefined && named === undefined)
      return "expected Acp-Session-Id, because the message is about a session";
    if (session !== undefined && named !== session)
      return "Acp-Session-Id and the session of the message differ; send the same id in both";
    if (method === undefined) this.#questions.delete(key);
    else if (id !== undefined) {
      const facts = methodTable.get(method);
      const wasTaken = session !== undefined && facts?.session === "attaches" && this.#taken.delete(session);
      this.#asked.set(key, { facts, session: named ?? session, wasTaken });
    }
    return undefined;
  }

  streamOf(message: object): string | undefined {
    const { id, method, params, result } = envelope(message);
    if (method !== undefined) {
      const session = sessionOf(params);
      if (id !== undefined && session !== undefined) this.#questions.set(idKey(id), session);
      if (session !== undefined && method === takenMethod) this.#taken.add(session);
      return session;
    }
    const key = idKey(id);
    const asked = this.#asked.get(key);
    if (asked === undefined) return undefined;
    this.#asked.delete(key);
    const effect = asked.facts?.session;
    const opened =
      effect === "opens" || effect === "attaches" ? (sessionOf(result) ?? asked.session) : undefined;
    if (opened !== undefined && result !== undefined) this.#sessions.add(opened);
    if (effect === "closes" && asked.session !== undefined && result !== undefined)
      this.#sessions.delete(asked.session);
    if (asked.wasTaken && asked.session !== undefined && result === undefined) this.#taken.add(asked.session);
    const isElsewhere = asked.facts?.isAnsweredToConnection === true || this.hasEnded(asked.session);
    return isElsewhere ? undefined : asked.session;
  }

  hasEnded(session: string | undefined): boolean {
    return session !== undefined && this.#taken.has(session);
  }

  isOwn(message: object): boolean {
    const session = sessionOf(envelope(message).params);
    return session !== undefined && this.#sessions.has(session);
  }
}

function envelope(message: unknown): Envelope {
  return typeof message === "object" && message !== null ? message : {};
}
