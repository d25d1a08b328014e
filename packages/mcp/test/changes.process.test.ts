// Changes that the server of a client tells of without being asked, as an agent behind the bridge hears them: by HTTP and through
// a command, with the official MCP clients of all revisions, from servers of both official packages.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { McpServer as OlderServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  ResourceUpdatedNotificationSchema,
  SubscribeRequestSchema,
  ToolListChangedNotificationSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { McpServer } from "@modelcontextprotocol/server";
import { mcpKit } from "@parley/mcp";
import { mcpClients } from "./support/mcp-clients.ts";

const sockets = mkdtempSync(join(tmpdir(), "parley-mcp-changes-"));
after(() => rmSync(sockets, { recursive: true, force: true }));
const deadline = { timeout: 60_000 };
const [uri, other] = ["memo://one", "memo://two"];

/** A server that can tell of changes. */
interface Changing {
  readonly server: object;
  toolsChanged(): void;
  updated(uri: string): void;
}

const info = { name: "memos", version: "1" };
const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
} as const;

const servers: Readonly<Record<string, () => Changing>> = {
  current() {
    const server = new McpServer(info, { capabilities });
    server.registerTool("look", { description: "Looks." }, () => ({ content: [] }));
    const read = () => ({ contents: [{ uri, text: "hi" }] });
    server.registerResource("one", uri, {}, read);
    return {
      server,
      toolsChanged: () => void server.server.sendToolListChanged(),
      updated: (each) => void server.server.sendResourceUpdated({ uri: each }),
    };
  },
  older() {
    const server = new OlderServer(info, { capabilities });
    server.registerTool("look", { description: "Looks." }, () => ({ content: [] }));
    server.registerResource("one", uri, {}, () => ({ contents: [{ uri, text: "hi" }] }));
    const watched = new Set<string>();
    server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      watched.add(params.uri);
      return {};
    });
    server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => ({
      was: watched.delete(params.uri),
    }));
    return {
      server,
      toolsChanged: () => void server.server.sendToolListChanged(),
      updated: (each) => void (watched.has(each) && server.server.sendResourceUpdated({ uri: each })),
    };
  },
};

async function declared(t: TestContext, way: "http" | "stdio", server: object) {
  const kit = mcpKit({ socketFolder: sockets });
  const bridge = kit.bridge({ http: way === "http", stdio: true });
  t.after(() => bridge.close());
  const [provider] = kit.providers([server], "memos");
  assert.ok(provider);
  const made = await bridge.declare(provider, { cwd: sockets, sessionId: () => "s-1" });
  return made?.server ?? assert.fail("nothing was declared");
}

/** What a client hears, in order. */
function heardBy(client: Awaited<ReturnType<(typeof mcpClients)[keyof typeof mcpClients]>>) {
  const got: string[] = [];
  let more = Promise.withResolvers<void>();
  const hear = (what: string): void => {
    got.push(what);
    more.resolve();
    more = Promise.withResolvers();
  };
  if (client instanceof OlderClient) {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => hear("tools"));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => hear(params.uri));
  } else {
    client.setNotificationHandler("notifications/tools/list_changed", () => hear("tools"));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => hear(params.uri));
  }
  return async (count: number) => {
    while (got.length < count) await more.promise;
    return got.splice(0);
  };
}

for (const [origin, made] of Object.entries(servers)) {
  for (const way of ["http", "stdio"] as const) {
    for (const [which, connected] of Object.entries(mcpClients)) {
      test(
        `the ${which} MCP client hears of changed tools and of a resource that it watches, by ${way}, from a ${origin} server`,
        deadline,
        async (t) => {
          const { server, toolsChanged, updated } = made();
          const client = await connected(await declared(t, way, server));
          const heard = heardBy(client);
          await client.listTools();
          let end: () => Promise<unknown>;
          if (which === "current" && !(client instanceof OlderClient)) {
            const filter = { toolsListChanged: true, resourceSubscriptions: [uri] };
            const subscription = await client.listen(filter);
            end = () => subscription.close();
          } else {
            await client.subscribeResource({ uri });
            end = () => client.unsubscribeResource({ uri });
          }
          toolsChanged();
          assert.deepEqual(await heard(1), ["tools"]);
          updated(other);
          updated(uri);
          assert.deepEqual(await heard(1), [uri]);
          await end();
          updated(uri);
          if (which === "current") await client.listTools();
          else {
            toolsChanged();
            assert.deepEqual(await heard(1), ["tools"]);
          }
          await client.close();
        },
      );
    }
  }
}
