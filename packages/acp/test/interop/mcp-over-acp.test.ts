// MCP over ACP with the official SDK on the other side, in one process: as the client that has tools, and as the agent that
// calls them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { agent, client, McpFailure, type RequestError } from "@parley/acp";
import { memoryPair, toWebStreams } from "@parley/acp/transport";
import { doing, said, server } from "../support/mcp-probe.ts";
import { initialize, initialized } from "../support/peer-probe.ts";
import type { AnyAgent } from "./app-sdk-client.ts";
import { register, senderOf } from "./sdk-app.ts";

const deadline = { timeout: 20_000 };
const unstable = ["mcp_over_acp"] as const;

/** What the SDK passes around for a connection. */
interface Streams {
  readonly readable: ReadableStream<AnyMessage>;
  readonly writable: WritableStream<AnyMessage>;
}

/** The apps of both versions, without their overloads for each method. */
interface AnyApp {
  onRequest(method: string, handler: unknown): unknown;
  onNotification(method: string, handler: unknown): unknown;
}

const sdks = {
  v1: () => import("@agentclientprotocol/sdk/unstable"),
  v2: () => import("@agentclientprotocol/sdk/experimental/v2/unstable"),
};

for (const version of ["v1", "v2"] as const) {
  const number = version === "v1" ? 1 : 2;

  test(
    `SDK client (${version}): our agent calls its tools, hears of progress, cancels, and tells errors apart`,
    deadline,
    async () => {
      const sdk = await sdks[version]();
      const heard: unknown[] = [];
      const answers: unknown[] = [];
      const done = Promise.withResolvers<void>();
      const ours = agent({
        name: "ours",
        version: "1",
        ...doing(async (_, [channel]) => {
          const call = (name: string, options: object = {}) =>
            channel
              ?.request("tools/call", { name }, options)
              .catch((error: unknown) =>
                error instanceof McpFailure ? error.body : (error as RequestError).code,
              );
          const onNotification = (method: string, params: object | undefined) => heard.push([method, params]);
          answers.push(await channel?.request("tools/list"), await call("work", { onNotification }));
          const stopping = new AbortController();
          const stopped = call("wait", { signal: stopping.signal, onNotification: () => stopping.abort() });
          answers.push(await call("wrong"), await call("broken"), await stopped);
          done.resolve();
        }),
        unstable,
      });
      const [left, right] = memoryPair();
      ours.connect(left);
      const provider = new sdk.McpOverAcpProvider();
      const app = sdk.client({ name: "interop-client" });
      register(app, { requests: {}, notifications: { "session/update": () => undefined } });
      (app as unknown as AnyApp).onRequest("mcp/message", provider.handleRequest);
      // as: the streams of the SDK have a narrower type of messages
      const connection = app.connect(toWebStreams(right) as never as Streams);
      const { declaration } = provider.registerServer(connection.agent, {
        name: "tools",
        async handler({ method, params, notify, signal }) {
          if (method === "tools/list") return { result: { tools: [{ name: "work" }] } };
          const { name } = params ?? {};
          if (name === "broken") throw new Error("no backend");
          if (name === "wrong") throw new sdk.McpProtocolError(-32602, "no such tool", { name });
          await notify("notifications/progress", { progress: 1 });
          if (name === "wait" && !signal.aborted)
            await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
          signal.throwIfAborted();
          return { result: said("done") };
        },
      });
      const sender = senderOf<AnyAgent>(connection.agent);
      const introduced = (await sender.request("initialize", initialize(number))) as object;
      assert.match(JSON.stringify(introduced), number === 1 ? /"acp":true/ : /"acp":\{\}/);
      const { sessionId } = (await sender.request("session/new", {
        cwd: "/w",
        mcpServers: [declaration],
      })) as {
        sessionId: string;
      };
      await sender.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
      await done.promise;
      assert.deepEqual(answers, [
        { tools: [{ name: "work" }] },
        said("done"),
        { code: -32602, message: "no such tool", data: { name: "wrong" } },
        -33002,
        -32800,
      ]);
      assert.deepEqual(heard, [["notifications/progress", { progress: 1 }]]);
      await ours.close();
    },
  );

  test(
    `SDK agent (${version}): it calls the tools of our client, with progress, cancels and errors`,
    deadline,
    async () => {
      const sdk = await sdks[version]();
      const [left, right] = memoryPair();
      const caller = new sdk.McpOverAcpCaller({ clientInfo: { name: "sdk", version: "1" } });
      const opened = Promise.withResolvers<string>();
      const app = sdk.agent({ name: "interop-agent" });
      const native = initialized(number) as {
        agentCapabilities?: object;
        capabilities?: { session: object };
      };
      register(app, {
        requests: {
          initialize: () =>
            number === 1
              ? {
                  ...native,
                  agentCapabilities: { ...native.agentCapabilities, mcpCapabilities: { acp: true } },
                }
              : {
                  ...native,
                  capabilities: { session: { ...native.capabilities?.session, mcp: { acp: {} } } },
                },
          "session/new"(params: { mcpServers: { serverId: string }[] }) {
            opened.resolve(params.mcpServers[0]?.serverId ?? "");
            return { sessionId: "s1" };
          },
        },
        notifications: {},
      });
      (app as unknown as AnyApp).onNotification("mcp/message", caller.handleNotification);
      const context = app.connect(toWebStreams(left) as never as Streams).client;
      const ours = await client({ name: "ours", version: "1", editions: [version], unstable }).connect(right);
      await ours.newSession({
        cwd: "/w",
        tools: [
          server("tools", {
            work(_, { notify, sessionId }) {
              notify("notifications/progress", { progress: 1 });
              return said(String(sessionId));
            },
            wait: (_, { notify, signal }) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener("abort", () => reject(signal.reason));
                notify("notifications/progress", { progress: 2 });
              }),
            broken: () => {
              throw new Error("no backend");
            },
          }),
        ],
      });
      const serverId = await opened.promise;
      const heard: unknown[] = [];
      const stopping = new AbortController();
      const call = (name: string, options: object = {}) =>
        caller.request(
          context,
          serverId,
          "tools/call",
          { name },
          {
            onNotification: ({ params }) => heard.push(params?.["progress"]),
            ...options,
          },
        );
      assert.deepEqual(await call("work"), { result: said("s1") });
      assert.deepEqual(await call("none"), { error: { code: -32601, message: "no tools/call none" } });
      await assert.rejects(call("broken"), { code: -33002 });
      await assert.rejects(caller.request(context, "nobody", "tools/list"), { code: -33001 });
      const onNotification = () => stopping.abort();
      await assert.rejects(call("wait", { signal: stopping.signal, onNotification }), { code: -32800 });
      assert.deepEqual(heard, [1]);
      await ours.close();
    },
  );
}
