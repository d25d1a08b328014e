// Tools of a client over HTTP, WebSocket and a pipe: the calls go back the way that the session came.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket as WsSocket } from "ws";
import { bytePipe } from "../../../test/support/byte-pipe.ts";
import { doing, said, server } from "../../../test/support/mcp-probe.ts";
import { place, rejects } from "../../../test/support/peer-probe.ts";
import { hostRemote } from "../../../test/support/remote-host.ts";
import { agent, client, httpTransport, type Transport, webSocketTransport } from "../../index.ts";
import { remoteServer } from "../../server.ts";
import { byteTransport } from "../../transport.ts";

const unstable = ["mcp_over_acp"] as const;
const patience = { timeout: 60_000 };

/** Works through a tool with progress, an error and a cancel, and hosts a server itself. */
const app = () => {
  const heard: unknown[] = [];
  const made = agent({
    name: "a",
    version: "1",
    ...doing(async (_, [channel]) => {
      const call = (name: string, more: object = {}) => channel?.request("tools/call", { name }, more);
      const stopping = new AbortController();
      const onNotification = (method: string) => {
        heard.push(method);
        stopping.abort();
      };
      const stopped = call("wait", { signal: stopping.signal, onNotification })?.catch(
        (error: unknown) => error,
      );
      return [await call("add"), ((await stopped) as { code?: unknown }).code];
    }),
    unstable,
    mcpServers: { search: server("search", { find: () => said("found") }) },
  });
  return { made, heard };
};

async function talk(target: Transport, heard: readonly unknown[]): Promise<void> {
  await using connection = await client({ name: "c", version: "1", unstable }).connect(target);
  const tools = [
    server("sums", {
      add: () => said("3"),
      wait: (_, { notify, signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          notify("notifications/progress", { progress: 1 });
        }),
    }),
  ];
  const session = await connection.newSession({ ...place, tools });
  assert.deepEqual(JSON.parse(await session.prompt("go").text()), [said("3"), -32800]);
  assert.deepEqual(heard, ["notifications/progress"]);
  assert.deepEqual(await connection.mcp("search").request("tools/call", { name: "find" }), said("found"));
  await rejects(connection.request("_parley.dev/mcp", { serverName: "x", mcpMethod: "tools/list" }), -32602);
}

for (const isHttp of [true, false])
  test(
    `tools of a client, and servers of an agent, over ${isHttp ? "HTTP" : "WebSocket"}`,
    patience,
    async (t) => {
      const { made, heard } = app();
      const remote = remoteServer({ connect: (transport) => made.connect(transport) });
      const host = await hostRemote(remote);
      t.after(async () => {
        await remote.close();
        await host.stop();
      });
      const transport = isHttp
        ? httpTransport(host.url)
        : webSocketTransport((protocols) => new WsSocket(host.socketUrl, protocols));
      await talk(transport, heard);
    },
  );

test("tools of a client, and servers of an agent, over a pipe", patience, async () => {
  const { made, heard } = app();
  const [near, far] = bytePipe();
  made.connect(byteTransport(far));
  await talk(byteTransport(near), heard);
});
