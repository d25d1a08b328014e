// Logs who has connected, from which address, and which sessions they open.

import type { Log, Transport } from "@parley/acp";
import { idKey, methodTable } from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";
import type { OpenedConnection } from "@parley/acp/server";
import { wrapSink, wrapTransport } from "@parley/acp/transport";

/** An agent that answers none of them does not fill the memory. */
const maxAsked = 1_000;

interface Asked {
  readonly method: unknown;
  readonly sessionId: unknown;
}

/** The transport of a client that was let in, with a line for each session that the agent opens for it. */
export function loggedConnection(
  transport: Transport,
  { connectionId }: OpenedConnection,
  address: string | undefined,
  log: Log,
): Transport {
  /** Requests for a session that are not answered. */
  const asked = new Map<string, Asked>();
  log("info", "a client has connected", { connectionId, address });
  const noteAsked = (message: unknown) => {
    if (!isObject(message) || message["id"] === undefined) return;
    const effect = methodTable.get(message["method"])?.session;
    if (effect !== "opens" && effect !== "attaches") return;
    const { id, method, params } = message;
    const sessionId = isObject(params) ? params["sessionId"] : undefined;
    if (asked.size < maxAsked) asked.set(idKey(id), { method, sessionId });
  };
  const noteAnswer = (message: object) => {
    const { id, method, result }: { id?: unknown; method?: unknown; result?: unknown } = message;
    if (id === undefined || method !== undefined) return;
    const found = asked.get(idKey(id));
    if (found === undefined) return;
    asked.delete(idKey(id));
    if (!isObject(result)) return;
    const sessionId = result["sessionId"] ?? found.sessionId;
    log("info", "a session was opened", { connectionId, address, sessionId, by: found.method });
  };
  return wrapTransport(transport, {
    send(message, text) {
      if (asked.size > 0) noteAnswer(message);
      return transport.send(message, text);
    },
    start: (sink) =>
      transport.start(
        wrapSink(sink, {
          message(value, text) {
            noteAsked(value);
            sink.message(value, text);
          },
        }),
      ),
  });
}
