// Agents beside the chain, each with sessions of its own that stand for those of the client.

import { Connection, isObject, optional } from "@parley/acp/jsonrpc";
import type { ProxiedSession } from "@parley/acp/proxy";
import { relay } from "@parley/acp/relay";
import { memoryPair, type Transport } from "@parley/acp/transport";

/** A session of the client that other agents have sessions for. */
export interface OtherSessions {
  /** The params that opened it. */
  opened: object;
  readonly others: Map<string, Promise<OtherAgent>>;
  /** The agent that works on a request of this session. */
  busy: Promise<OtherAgent> | undefined;
}

/** The other agents of one client. */
export class OtherAgents {
  /** The params with which the client initialised. */
  hello: object = {};
  readonly #reach: (name: string) => Promise<Transport>;
  readonly #running = new Set<Connection>();

  constructor(reach: (name: string) => Promise<Transport>) {
    this.#reach = reach;
  }

  /** Sends a request to an agent. Until it answers, it is the session's `busy` agent. */
  async prompt(
    name: string,
    session: ProxiedSession<OtherSessions>,
    { method, params, signal }: OtherRequest & { readonly signal: AbortSignal | undefined },
  ): Promise<unknown> {
    const { data } = session;
    const getting = this.#get(name, session);
    data.busy = getting;
    try {
      return await asked(await getting, { method, params }, signal);
    } finally {
      if (data.busy === getting) data.busy = undefined;
    }
  }

  /** The agent with its session for this one. It is started when it is needed, and again when it has gone. */
  #get(name: string, session: ProxiedSession<OtherSessions>): Promise<OtherAgent> {
    const { others } = session.data;
    const opening = others.get(name) ?? this.#open(name, session);
    others.set(name, opening);
    return opening;
  }

  async #open(name: string, session: ProxiedSession<OtherSessions>): Promise<OtherAgent> {
    const { opened, others } = session.data;
    try {
      const other = await otherAgent(await this.#reach(name), session, { hello: this.hello, opened });
      this.#running.add(other.connection);
      void other.connection.closed.then(() => {
        others.delete(name);
        this.#running.delete(other.connection);
      });
      return other;
    } catch (error) {
      others.delete(name);
      throw error;
    }
  }

  close(): void {
    for (const connection of this.#running) void connection.close();
  }
}

export interface OtherAgent {
  readonly connection: Connection;
  /** The id of its session. */
  readonly sessionId: string;
}

interface OtherRequest {
  readonly method: string;
  /** The params as the client sent them, with the id of its own session. */
  readonly params: unknown;
}

/** Sends a request of the client to the session of another agent. */
export function asked(
  { connection, sessionId }: OtherAgent,
  { method, params }: OtherRequest,
  signal?: AbortSignal,
): Promise<unknown> {
  return connection.request(method, { ...asObject(params), sessionId }, optional({ signal }));
}

/** Cancels the work of all other agents in a session. */
export function cancelOthers({ others }: OtherSessions): void {
  for (const other of others.values()) {
    other.then(
      ({ connection, sessionId }) => connection.notify("session/cancel", { sessionId }),
      () => undefined,
    );
  }
}

/**
 * Everything that it sends goes to the client, in the session of the client, and what it asks is answered there. `hello` and
 * `opened` are the params with which the client initialised and opened its session.
 */
async function otherAgent(
  transport: Transport,
  session: Pick<ProxiedSession, "sessionId" | "edition" | "request" | "notify">,
  { hello, opened }: { readonly hello: object; readonly opened: object },
): Promise<OtherAgent> {
  const [near, far] = memoryPair();
  // it may speak another version than the client
  relay(far, transport, { as: session.edition });
  const ours = (params: unknown): object => ({ ...asObject(params), sessionId: session.sessionId });
  const connection = new Connection(near, {
    noise: "skip",
    handlers: {
      request: (method, params) => session.request("client", method, ours(params)),
      notification(method, params) {
        session.notify("client", method, ours(params));
      },
    },
  });
  const protocolVersion = session.edition === "v2" ? 2 : 1;
  try {
    await connection.request("initialize", { ...hello, protocolVersion });
    const { sessionId } = asObject(await connection.request("session/new", opened));
    return { connection, sessionId: String(sessionId) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
