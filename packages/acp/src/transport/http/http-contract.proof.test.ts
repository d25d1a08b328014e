import assert from "node:assert/strict";
import { test } from "node:test";

// The contract on the client's side of Streamable HTTP, over a real server on the loopback interface.

import { Loopback } from "../../../test/support/http-loopback.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { transportContract } from "../../testing/contracts/transport-contract.ts";
import { lateTransport } from "../late-transport.ts";
import { HttpClientTransport, type HttpRouting } from "./http-client.ts";

/** The first POST opens the connection; here it is sent for the tests, and its answer is kept from them. */
function opened(transport: Transport): Transport {
  return {
    start(sink) {
      let isOpen = false;
      transport.start({
        ...sink,
        message(value, text) {
          if (isOpen) sink.message(value, text);
          isOpen = true;
        },
      });
      transport.send({ open: true });
    },
    send: (message, text) => transport.send(message, text),
    pause: () => transport.pause(),
    resume: () => transport.resume(),
    close: (reason) => transport.close(reason),
  };
}

transportContract(
  { test, assert },
  "HTTP client",
  async (limits) => {
    const server = await new Loopback().listen();
    const routing: HttpRouting = {
      sending: () => undefined,
      takesUp: () => false,
      isTakingUp: () => false,
      received: (value, text, _session, link) => link.deliver(value, text),
      refused: () => false,
    };
    const load = async () => new HttpClientTransport(server.url, routing, { limits, closeTimeoutMs: 200 });
    const near = lateTransport(load, limits);
    return {
      near: opened(near),
      far: server.far,
      frameToNear: (text) => server.event(text),
      bytesToNear: (bytes) => server.write(bytes),
      cut: () => server.cut(),
      dispose: () => server.stop(),
    };
  },
  {
    encode: (text) => new TextEncoder().encode(`data: ${text}\r\n\r\n`),
    exceptions: {
      "half-close": "the end of the connection's stream is the end of the connection",
      unopened: "a connection begins with its first message",
    },
  },
);
