import assert from "node:assert/strict";
import { test } from "node:test";

// The contract on WebSockets: on both ends, with both kinds of client.

import { opened, sockets } from "../../test/support/socket-pair.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import type { TransportPair } from "../testing/contracts/transport-pair.ts";
import type { FrameLimits } from "./byte-channel.ts";
import { webSocketTransport } from "./websocket.ts";

const closeTimeoutMs = 200;

for (const kind of ["ws", "the standard"] as const) {
  const makePair = async (
    limits: Partial<FrameLimits>,
    subject: "client" | "server",
  ): Promise<TransportPair> => {
    const { accepted, connecting, stop } = await sockets(kind);
    const client = webSocketTransport(connecting, { limits, closeTimeoutMs });
    const server = webSocketTransport(accepted, { limits, closeTimeoutMs });
    await opened(connecting);
    const isServer = subject === "server";
    return {
      near: isServer ? server : client,
      far: isServer ? client : server,
      frameToNear: (text) => (isServer ? connecting : accepted).send(text),
      cut: () => accepted.terminate(),
      dispose: stop,
    };
  };
  const bytes = "a text frame is a whole message; its bytes belong to the WebSocket library";
  const halfClose = "WebSocket has no half-close; what was sent before a close arrives before the end";
  const noPause = "the standard WebSocket cannot stop reading";
  transportContract(
    { test, assert },
    `WebSocket server, ${kind} client`,
    (limits) => makePair(limits, "server"),
    {
      exceptions: {
        bytes,
        "half-close": halfClose,
        ...(kind === "ws" ? {} : { "back-pressure": `${noPause}, so the server never feels its slowness` }),
      },
    },
  );
  transportContract(
    { test, assert },
    `WebSocket with ${kind} client`,
    (limits) => makePair(limits, "client"),
    {
      exceptions: { bytes, "half-close": halfClose, ...(kind === "ws" ? {} : { pause: noPause }) },
    },
  );
}
