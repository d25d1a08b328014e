// A transport has one connection: a second one would take the first one's messages away.

import { argumentText } from "./argument.ts";
import type { Transport } from "./transport.ts";

const claimed = new WeakSet<Transport>();

/** Throws for what is no transport, and for one that has a connection. */
export function claimTransport(transport: Transport): void {
  // only the compiler knows that it is one
  const methods: Partial<Transport> | null | undefined = transport;
  if (typeof methods?.start !== "function" || typeof methods.send !== "function") {
    const inside = typeof methods === "object" && methods !== null && "transport" in methods;
    const hint = inside
      ? "it has one in its field transport: give that"
      : 'make one, as spawnTransport("my-agent", []).transport is';
    throw new TypeError(
      `connect: wanted a transport (start, send, close), got ${argumentText(transport)}; ${hint}`,
    );
  }
  if (claimed.has(transport))
    throw new TypeError("this transport has a connection already; make a transport for each connection");
  claimed.add(transport);
}
