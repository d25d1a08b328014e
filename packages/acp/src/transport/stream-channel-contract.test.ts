import assert from "node:assert/strict";
import { test } from "node:test";
// The contract on the channel that Node's sockets and an agent's own stdio share.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { streamChannel } from "../node/stream-channel.ts";
import { nodePlatform } from "../node/text-platform.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import { byteTransport } from "./byte-transport.ts";

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
      near: byteTransport(streamChannel(a, a, { flushMs: 100 }), { limits, platform: nodePlatform }),
      far: byteTransport(streamChannel(b, b, { flushMs: 100 }), { limits, platform: nodePlatform }),
      frameToNear: (text) => b.write(encode(text)),
      bytesToNear: (bytes) => b.write(bytes),
      halfClose: () => b.end(),
      cut: () => b.resetAndDestroy(),
    };
  },
  { encode },
);
