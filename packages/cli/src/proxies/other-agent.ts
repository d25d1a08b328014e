// An agent beside the chain, with a session of its own that stands for one of the client.

import { Connection, isObject } from "@parley/acp/jsonrpc";
import type { ProxiedSession } from "@parley/acp/proxy";
import { relay } from "@parley/acp/relay";
import { memoryPair, type Transport } from "@parley/acp/transport";

export interface OtherAgent {
  readonly connection: Connection;
  /** The id of its session. */
  readonly sessionId: string;
}

/**
 * Everything that it sends goes to the client, in the session of the client, and what it asks is answered there. `hello` and
 * `opened` are the params with which the client initialised and opened its session.
 */
export async function otherAgent(
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
