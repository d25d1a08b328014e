// Agents that run elsewhere, reached by a WebSocket.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { type TestContext, test } from "node:test";
import { agent as agentOf, webSocketTransport } from "@parley/acp";
import { WebSocketServer } from "ws";
import { launchAgent, liveAgent, type RemoteEntry } from "../index.ts";
import { patience } from "../live-probe.ts";

const definition = { name: "test", version: "1.0.0" };
const cwd = tmpdir();

/** An agent behind a socket, for those who know the word. */
async function remote(t: TestContext) {
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    verifyClient: ({ req }: { req: { headers: Record<string, unknown> } }) =>
      req.headers["authorization"] === "Bearer word",
  });
  await once(server, "listening");
  const sockets = new Set<{ terminate(): void }>();
  const far = agentOf({
    name: "far",
    version: "1.0.0",
    prompt: async (turn) => {
      await turn.say("from afar");
    },
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    far.connect(webSocketTransport(socket as never)); // it has more than is needed
  });
  const entry: RemoteEntry = {
    name: "far",
    origin: "config",
    transport: "websocket",
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    headers: { Authorization: "Bearer word" },
  };
  const cut = () => {
    for (const socket of sockets) socket.terminate();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return { entry, cut };
}

test(
  "an agent that runs elsewhere is reached with its headers, and reached again when the line is cut",
  patience,
  async (t) => {
    const { entry, cut } = await remote(t);
    const events: string[] = [];
    const live = await liveAgent(entry, {
      client: definition,
      onEvent: ({ kind }) => void events.push(kind),
      asker: { newSession: async () => true },
    });
    t.after(() => live.close());
    const session = await live.open({ cwd });
    assert.equal((await session.prompt("hi").outcome).stopReason, "end_turn");
    const gone = live.connected.closed;
    cut();
    await gone;
    assert.equal((await session.prompt("hi").outcome).stopReason, "end_turn");
    assert.deepEqual(
      events.filter((kind) => kind !== "waiting"),
      ["connecting", "ready", "crashed", "connecting", "ready", "continued"],
    );
  },
);

test(
  "an address that refuses, that nobody listens on, or that cannot be one is told with what to do",
  patience,
  async (t) => {
    const { entry } = await remote(t);
    await assert.rejects(launchAgent({ ...entry, headers: {} }, { definition }), {
      kind: "unreachable",
      hint: /check the address, the headers/,
    });
    await assert.rejects(launchAgent({ ...entry, url: "ws://127.0.0.1:1/" }, { definition }), {
      kind: "unreachable",
    });
    await assert.rejects(launchAgent({ ...entry, url: "not a url" }, { definition }), {
      kind: "unreachable",
      hint: /correct the url/,
    });
    await assert.rejects(launchAgent({ ...entry, transport: "http" }, { definition }), {
      kind: "unsupported",
      hint: /websocket/,
    });
  },
);
