import assert from "node:assert/strict";
import { test } from "node:test";
// The contract on the channel that Node's sockets and an agent's own stdio share.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { streamTransport } from "../node/transports.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";

const encode = (text: string) => Buffer.from(`${text}\n`);

transportContract(
  { test, assert },
  "Node sockets",
  async (limits) => {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const a = connect({
      port: (server.address() as AddressInfo).port,
      host: "127.0.0.1",
      allowHalfOpen: true,
    });
    const [b] = (await once(server, "connection")) as [Socket];
    server.close();
    return {
      near: streamTransport(a, { limits, flushMs: 100 }),
      far: streamTransport(b, { limits, flushMs: 100 }),
      frameToNear: (text) => b.write(encode(text)),
      bytesToNear: (bytes) => b.write(bytes),
      halfClose: () => b.end(),
      cut: () => b.resetAndDestroy(),
    };
  },
  { encode },
);

test("streamTransport says what it needs", () => {
  for (const given of [undefined, null, "/run/agent.sock", { host: "localhost" }, process.stdout.fd]) {
    assert.throws(() => streamTransport(given as never), {
      name: "TypeError",
      message: /^streamTransport: expected a stream that can be read and written, such as a socket, got /,
    });
  }
});
