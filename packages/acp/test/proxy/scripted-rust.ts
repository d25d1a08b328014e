// Proxies and conductors as the Rust SDK writes them, by hand.

import type { RawLinePeer, Wire } from "../support/raw-line-peer.ts";

export interface Names {
  readonly initialize: string;
  readonly successor: string;
}

export const rust5: Names = { initialize: "proxy/initialize", successor: "proxy/successor" };
export const rust2: Names = { initialize: "_proxy/initialize", successor: "_proxy/successor" };

interface Pending {
  readonly id: NonNullable<Wire["id"]>;
}

/** What a proxy does with the first message of another generation. */
export type Tell = "unknown" | "forwards" | "poisoned" | "dies";

/** A proxy that passes everything; ids count from zero on its side. */
export function rustProxy(names: Names, tell: Tell = "unknown") {
  let next = 0;
  let isPoisoned = false;
  const waiting = new Map<unknown, Pending>();
  const pass = (peer: RawLinePeer, { id }: Wire, method: string, params: unknown): void => {
    if (id == null) return peer.notify(method, params as object);
    const own = next++;
    waiting.set(own, { id });
    peer.request(own, method, params as object);
  };
  return (message: Wire, peer: RawLinePeer): void => {
    const { id, method, params } = message;
    const other = names === rust5 ? rust2 : rust5;
    if (isPoisoned) return refuse(peer, message, -32600);
    if (method === undefined) {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (asked !== undefined) peer.send({ ...message, id: asked.id });
      return;
    }
    if (method === other.initialize) {
      if (tell === "unknown") return refuse(peer, message, -32601);
      if (tell === "dies") return void peer.close();
      isPoisoned = tell === "poisoned";
      if (isPoisoned) return refuse(peer, message, -32600);
      return pass(peer, message, names.successor, { method, params });
    }
    if (method === names.initialize)
      return pass(peer, message, names.successor, { method: "initialize", params });
    if (method === names.successor) {
      const { method: inner, params: inside } = params as { method: string; params?: unknown };
      if (inner !== "$/cancel_request") return pass(peer, message, inner, inside);
      cancel(peer, inside, (requestId) => peer.notify("$/cancel_request", { requestId }));
      return;
    }
    if (method === "$/cancel_request") {
      cancel(peer, params, (requestId) => {
        if (names === rust5) return peer.notify(method, { requestId });
        return peer.notify(names.successor, { method, params: { requestId } });
      });
      return;
    }
    pass(peer, message, names.successor, { method, params });
  };

  function cancel(_: RawLinePeer, params: unknown, send: (own: unknown) => void): void {
    const { requestId } = params as { requestId?: unknown };
    for (const [own, { id }] of waiting) if (id === requestId) send(own);
  }
}

function refuse(peer: RawLinePeer, { id }: Wire, code: number): void {
  if (id != null) peer.send({ jsonrpc: "2.0", id, error: { code, message: "refused" } });
}
