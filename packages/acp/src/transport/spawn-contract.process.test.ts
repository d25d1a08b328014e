import assert from "node:assert/strict";
import { test } from "node:test";
// The contract on a real child process: the subject is the client's end of its stdin and stdout. The child
// passes bytes on between its stdio and a socket, at whose other end the test sits as the agent.

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { nodePlatform, streamChannel } from "../node/stream-channel.ts";
import { spawnTransport } from "../node/transports.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import { byteTransport } from "./byte-transport.ts";

const encode = (text: string) => Buffer.from(`${text}\n`);

const relay = `
  const { connect } = require("node:net");
  const { closeSync } = require("node:fs");
  // without it, stdout is the wire before an answer has come
  closeSync(3);
  const socket = connect({ port: Number(process.argv[1]), host: "127.0.0.1", allowHalfOpen: true });
  process.stdin.pipe(socket, { end: false });
  socket.pipe(process.stdout, { end: false });
  socket.on("end", () => process.stdout.write("", () => closeSync(1)));
  socket.on("error", () => process.exit(0));
  process.stdout.on("error", () => process.exit(0));
  process.stdin.on("end", () => socket.end(() => process.exit(0)));
`;

transportContract(
  { test, assert },
  "stdio of a child process",
  async (limits) => {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const agent = spawnTransport(process.execPath, ["-e", relay, String(port)], {
      limits,
      graceMs: 500,
    });
    const [socket] = (await once(server, "connection")) as [Socket];
    server.close();
    return {
      near: agent,
      far: byteTransport(streamChannel(socket, socket, { flushMs: 100 }), { limits, platform: nodePlatform }),
      frameToNear: (text) => socket.write(encode(text)),
      bytesToNear: (bytes) => socket.write(bytes),
      halfClose: () => socket.end(),
      cut: () => process.kill(agent.pid ?? 0, "SIGKILL"),
      dispose: async () => {
        await agent.exited;
      },
    };
  },
  { encode },
);
