// Bad input where a transport frames its messages: over WebSocket, and in memory where its size is the point
// (memory.test.ts has the other cases).

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after, before } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { webSocketTransport } from "../../src/transport/websocket.ts";
import { testCatalogue, testScenarios } from "./register-tests.ts";
import { startSubject } from "./subject.ts";
import { frameLimits, Inbox, type LinkOptions, openMemoryLink, type Wire } from "./wire.ts";

let server: WebSocketServer;

before(async () => {
  server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
});

after(() => {
  server.close();
});

/** The subject is on the server's side as an agent and on the other as a client, as it would be. */
async function openWebSocketLink(options: LinkOptions): Promise<Wire> {
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, "connection") as Promise<[WebSocket]>;
  const dialled = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  const [[socket]] = await Promise.all([accepted, once(dialled, "open")]);
  const [near, far] = options.role === "agent" ? [socket, dialled] : [dialled, socket];
  const inbox = new Inbox();
  far.on("message", (data) => inbox.push(String(data)));
  far.on("close", (code) => inbox.end(`the subject closed the WebSocket with ${code}`));
  const subject = startSubject(webSocketTransport(near, { limits: frameLimits(options) }), options);
  return {
    send: (frame) => far.send(frame, { binary: false }),
    next: () => inbox.next(),
    ended: subject.closed,
    async close() {
      far.close();
      await subject.close();
      await subject.closed;
    },
  };
}

for (const role of ["agent", "client"] as const) {
  for (const version of [1, 2] as const) {
    testCatalogue({ transport: "memory", role, version, open: openMemoryLink, fullSize: true });
    testCatalogue({ transport: "websocket", role, version, open: openWebSocketLink });
  }
  testScenarios({ transport: "memory", role, version: 1, open: openMemoryLink });
  testScenarios({ transport: "websocket", role, version: 1, open: openWebSocketLink });
}
