// The official SDK's clients, over HTTP and WebSocket, with our agent: behind our server, and behind our gateway with a token,
// without TLS and with it. Our clients with the SDK's server: app-client.process.test.ts in
// packages/acp/test/interop, and remote.process.test.ts in packages/client/src/launch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { type AgentConnection, agent } from "@parley/acp";
import { type RemoteConnection, type RemoteServerOptions, remoteServer } from "@parley/acp/server";
import { type GatewayOptions, startGateway } from "@parley/gateway";
import { fetch as fetchHttp2, Agent as Sockets } from "undici";
import { WebSocket as WsSocket } from "ws";
import { register, sdkOf, senderOf } from "../../../acp/test/interop/sdk-app.ts";
import { EventLog } from "../../../acp/test/interop/wire-script.ts";
import { hostRemote } from "../../../acp/test/support/remote-host.ts";
import { certificate } from "../support/certificate.ts";

interface AnyAgent {
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

const patience = { timeout: 60_000 };

interface Host {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** The certificate to trust. */
  readonly ca?: string;
  connections(): readonly RemoteConnection[];
  stop(): Promise<void>;
}
type Connect = RemoteServerOptions["connect"];

async function gatewayHost(connect: Connect, tls?: GatewayOptions["tls"]): Promise<Host> {
  const gateway = await startGateway({ connect, tls });
  return {
    url: gateway.url,
    headers: { Authorization: `Bearer ${gateway.token}` },
    ...(tls && { ca: tls.cert }),
    connections: () => gateway.connections,
    stop: () => gateway.close(),
  };
}

const hosts: Readonly<Record<string, (connect: Connect) => Promise<Host>>> = {
  async "our server"(connect) {
    const server = remoteServer({ closeTimeoutMs: 50, connect });
    const { url, stop } = await hostRemote(server);
    return { url, headers: {}, connections: () => server.connections, stop };
  },
  "our gateway": (connect) => gatewayHost(connect),
  "our gateway with TLS": (connect) => gatewayHost(connect, certificate()),
};

const streams: Readonly<Record<string, (host: Host) => unknown>> = {
  HTTP({ url, headers, ca }) {
    if (ca === undefined) return createHttpStream(url, { headers });
    const dispatcher = new Sockets({ allowH2: true, bodyTimeout: 0, connect: { ca } });
    const own = (input: unknown, init: object) => fetchHttp2(input as string, { ...init, dispatcher });
    return createHttpStream(url, { headers, fetch: own as never });
  },
  WebSocket({ url, headers, ca }) {
    class Socket extends WsSocket {
      constructor(address: string, protocols: string[] = [], options: object = {}) {
        super(address, protocols, { ...options, ...(ca !== undefined && { ca }) });
      }
    }
    return createWebSocketStream(url.replace("http", "ws"), { headers, WebSocket: Socket as never });
  },
};

const talker = () =>
  agent({
    name: "talker",
    version: "1.0.0",
    async prompt(turn) {
      for (const word of turn.text.split(" ")) {
        if (word === "hang") await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
        else if (word !== "ask" || (await turn.requestPermission("Go on?"))) await turn.say(`${word} `);
      }
    },
  });

/** The text of the agent's messages in the log. */
function saidIn(log: EventLog): string {
  return log.events
    .map(({ params }) => JSON.stringify(params))
    .filter((text) => /agent_message/.test(text))
    .flatMap((text) => [...text.matchAll(/"text":"([^"]*)"/g)].map(([, said]) => said))
    .join("");
}

const table = Object.keys(hosts).flatMap((where) =>
  Object.keys(streams).flatMap((kind) =>
    (["v1", "v2"] as const).map((version) => ({ where, kind, version })),
  ),
);

for (const { where, kind, version } of table) {
  test(
    `the SDK's ${version} client over ${kind} with ${where}: prompt, question, cancel, end (H3, H5-H14, W1-W3)`,
    patience,
    async (t) => {
      const app = talker();
      const served: AgentConnection[] = [];
      const host = await hosts[where]!((transport) => {
        const connection = app.connect(transport);
        served.push(connection);
        return connection;
      });
      t.after(() => host.stop());
      const sdk = await sdkOf(version);
      const log = new EventLog();
      const sdkApp = sdk.client({ name: "sdk" });
      register(sdkApp, {
        requests: {
          "session/request_permission": (params: { options: { optionId: string }[] }) => ({
            outcome: { outcome: "selected", optionId: params.options[0]?.optionId },
          }),
        },
        notifications: { "session/update": (params: unknown) => log.add("session/update", params) },
      });
      const connection = sdkApp.connect(streams[kind]!(host) as never);
      const far = senderOf<AnyAgent>(connection.agent);
      const hello =
        version === "v1"
          ? { protocolVersion: 1, clientCapabilities: {} }
          : { protocolVersion: 2, capabilities: {}, info: { name: "sdk", version: "1" } };
      await far.request("initialize", hello);
      const { sessionId } = (await far.request("session/new", { cwd: "/", mcpServers: [] })) as {
        sessionId: string;
      };
      const prompt = (text: string) =>
        far.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      const words = [...Array(200).keys()].map((n) => `w${n}`).join(" ");
      await prompt(`one ask ${words}`);
      while (!saidIn(log).endsWith("w199 "))
        await log.until("session/update", log.of("session/update").length + 1);
      assert.equal(saidIn(log), `one ask ${words} `);
      const hanging = prompt("hang");
      await far.notify("session/cancel", { sessionId });
      await hanging;
      assert.deepEqual(
        host.connections().map((each) => each.kind),
        [kind === "HTTP" ? "http" : "websocket"],
      );
      connection.close();
      assert.equal((await served[0]?.closed)?.kind, "closed");
      assert.deepEqual(host.connections(), []);
    },
  );
}
