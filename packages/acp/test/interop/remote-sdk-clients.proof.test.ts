// The official SDK's clients, over HTTP and WebSocket, with our server and our agent.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { type AgentConnection, agent } from "@parley/acp";
import { remoteServer } from "@parley/acp/server";
import { WebSocket as WsSocket } from "ws";
import { hostRemote } from "../support/remote-host.ts";
import { register, sdkOf, senderOf } from "./sdk-app.ts";
import { EventLog } from "./wire-script.ts";

interface AnyAgent {
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

const patience = { timeout: 60_000 };
const streams = {
  HTTP: (host: { url: string }) => createHttpStream(host.url),
  WebSocket: (host: { socketUrl: string }) =>
    createWebSocketStream(host.socketUrl, { WebSocket: WsSocket as never }),
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

for (const version of ["v1", "v2"] as const) {
  for (const [kind, open] of Object.entries(streams)) {
    test(
      `the SDK's ${version} client over ${kind}: prompt, question, cancel, end (H3, H5-H14, W1-W3)`,
      patience,
      async (t) => {
        const app = talker();
        const served: AgentConnection[] = [];
        const server = remoteServer({
          closeTimeoutMs: 50,
          connect(transport) {
            const connection = app.connect(transport);
            served.push(connection);
            return connection;
          },
        });
        const host = await hostRemote(server);
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
        const connection = sdkApp.connect(open(host) as never);
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
          server.connections.map((each) => each.kind),
          [kind === "HTTP" ? "http" : "websocket"],
        );
        connection.close();
        assert.equal((await served[0]?.closed)?.kind, "closed");
        assert.deepEqual(server.connections, []);
      },
    );
  }
}
