// Servers of a client as an agent without MCP over ACP meets them: over HTTP and through a command, by the official MCP clients
// of both eras.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { after, type TestContext, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import type { McpBridge } from "@parley/acp/model";
import { mcpKit, type Tool, tool } from "@parley/mcp";
import { claimed } from "./support/ask.ts";
import { commandOf, envOf, type Http, headersOf, mcpClients, type Stdio } from "./support/mcp-clients.ts";

const sockets = mkdtempSync(join(tmpdir(), "parley-mcp-test-"));
after(() => rmSync(sockets, { recursive: true, force: true }));
const deadline = { timeout: 120_000 };

const echo = tool({
  name: "echo",
  description: "Says it again.",
  schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }, { sessionId }) => `${text} in ${sessionId}`,
});

async function bridged(t: TestContext, way: "http" | "stdio", ...tools: readonly Tool[]) {
  const kit = mcpKit({ socketFolder: sockets });
  const bridge = kit.bridge({ http: way === "http", stdio: true });
  t.after(() => bridge.close());
  const declared = await declare(kit.providers(tools.length === 0 ? [echo] : tools, "tools"), bridge);
  return { bridge, ...declared };
}

async function declare([provider]: ReturnType<ReturnType<typeof mcpKit>["providers"]>, bridge: McpBridge) {
  assert.ok(provider);
  const declared = await bridge.declare(provider, { cwd: sockets, sessionId: () => "s-1" });
  return declared ?? assert.fail("nothing was declared");
}

for (const way of ["http", "stdio"] as const) {
  for (const [which, connected] of Object.entries(mcpClients)) {
    test(
      `the ${which} MCP client calls a tool by ${way}, and gets its progress (M14, M21)`,
      deadline,
      async (t) => {
        const heard = Promise.withResolvers<void>();
        const slow = tool({
          name: "slow",
          description: "Ends when its progress was heard.",
          async run(_, { progress }) {
            progress(1, 2, "half");
            await heard.promise;
            return "done";
          },
        });
        const { server } = await bridged(t, way, echo, slow);
        assert.equal(server.type, way);
        const client = await connected(server);
        const { tools } = await client.listTools();
        assert.deepEqual(
          tools.map(({ name }) => name),
          ["echo", "slow"],
        );
        const result = await client.callTool({ name: "echo", arguments: { text: "hi" } });
        assert.deepEqual(result.content, [{ type: "text", text: "hi in s-1" }]);
        const progress: unknown[] = [];
        const call = { name: "slow", arguments: {} };
        const onprogress = (each: unknown) => {
          progress.push(each);
          heard.resolve();
        };
        const done =
          client instanceof OlderClient
            ? await client.callTool(call, undefined, { onprogress })
            : await client.callTool(call, { onprogress });
        assert.deepEqual(done.content, [{ type: "text", text: "done" }]);
        assert.deepEqual(progress, [{ progress: 1, total: 2, message: "half" }]);
        const refused = await client
          .callTool({ name: "none", arguments: {} })
          .catch((error: unknown) => error);
        assert.match(JSON.stringify(refused) + String(refused), /none/);
        await client.close();
      },
    );

    test(
      `the ${which} MCP client cancels a call by ${way}, and other calls go on (M13)`,
      deadline,
      async (t) => {
        const started = Promise.withResolvers<void>();
        const stopped = Promise.withResolvers<void>();
        const wait = tool({
          name: "wait",
          description: "Waits.",
          run: (_, { signal }) => {
            started.resolve();
            return new Promise((resolve) => {
              signal.addEventListener("abort", () => {
                stopped.resolve();
                resolve("stopped");
              });
            });
          },
        });
        const { server } = await bridged(t, way, wait, echo);
        const client = await connected(server);
        const cancel = new AbortController();
        const call = { name: "wait", arguments: {} };
        const slow = (
          client instanceof OlderClient
            ? client.callTool(call, undefined, { signal: cancel.signal })
            : client.callTool(call, { signal: cancel.signal })
        ).then(
          () => assert.fail("it was cancelled"),
          () => undefined,
        );
        await started.promise;
        cancel.abort();
        await Promise.all([slow, stopped.promise]);
        const result = await client.callTool({ name: "echo", arguments: { text: "on" } });
        assert.deepEqual(result.content, [{ type: "text", text: "on in s-1" }]);
        await client.close();
      },
    );
  }
}

interface Raw {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** fetch sets Host and Origin itself. */
function send(
  { url, ...server }: Http,
  { method = "POST", headers = {}, body }: Raw,
): Promise<[number, string, string]> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, {
      method,
      agent: false,
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headersOf(server as Http),
        ...headers,
      },
    });
    sent.once("error", reject);
    sent.once("response", async (response) => {
      const session = String(response.headers["mcp-session-id"] ?? "");
      resolve([response.statusCode ?? 0, await text(response), session]);
    });
    sent.end(body);
  });
}

const initialize = (revision: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  });

for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
  test(`a client of ${revision} has a session over HTTP, until it ends it`, deadline, async (t) => {
    const server = (await bridged(t, "http")).server as Http;
    const [status, answer, session] = await send(server, { body: initialize(revision) });
    assert.equal(status, 200);
    assert.match(answer, new RegExp(`"protocolVersion":"${revision}"`));
    const headers = { "Mcp-Session-Id": session };
    const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    assert.equal((await send(server, { headers, body: initialized }))[0], 202);
    const list = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    assert.match((await send(server, { headers, body: list }))[1], /"name":"echo"/);
    assert.equal((await send(server, { method: "DELETE", headers }))[0], 200);
    const [ended, why] = await send(server, { headers, body: list });
    assert.equal(ended, 404);
    assert.match(why, /send initialize again/);
  });
}

test(
  "the revision is decided for each request, and one that says none is told what to do",
  deadline,
  async (t) => {
    const server = (await bridged(t, "http")).server as Http;
    const [, , session] = await send(server, { body: initialize("2025-11-25") });
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const older = await send(server, { headers: { "Mcp-Session-Id": session }, body: JSON.stringify(list) });
    const newer = await send(server, {
      headers: { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list" },
      body: JSON.stringify({ ...list, params: claimed() }),
    });
    assert.match(older[1], /"name":"echo"/);
    assert.match(newer[1], /"name":"echo"/);
    assert.equal(newer[0], 200);
    const [status, why] = await send(server, { body: JSON.stringify(list) });
    assert.equal(status, 400);
    assert.match(why, /send initialize first, .* or name the revision 2026-07-28/);
  },
);

test(
  "the bridge refuses a wrong token, a web page, another host, GET and what is too large (M18)",
  deadline,
  async (t) => {
    const server = (await bridged(t, "http")).server as Http;
    const body = initialize("2025-06-18");
    const { host } = new URL(server.url);
    const statuses = async (...all: readonly Raw[]) =>
      Promise.all(all.map(async (each) => (await send(server, { body, ...each }))[0]));
    assert.deepEqual(
      await statuses(
        { headers: { Authorization: "" } },
        { headers: { Authorization: `Bearer ${"x".repeat(43)}` } },
        { headers: { Origin: `http://${host}` } },
        { headers: { Origin: "null" } },
        { headers: { Host: "evil.example" } },
        { headers: { Host: "127.0.0.1" } },
        { headers: { "Content-Type": "text/plain" } },
        { headers: { "Content-Length": String(17 * 1024 * 1024) } },
      ),
      [401, 401, 403, 403, 403, 403, 415, 413],
    );
    const elsewhere = { ...server, url: `http://${host}/other` };
    assert.equal((await send(elsewhere, { body }))[0], 401);
    assert.equal((await send(server, { method: "GET" }))[0], 405);
    assert.equal((await send(server, { method: "DELETE" }))[0], 405);
    assert.equal((await send(server, { body: "{" }))[0], 400);
    assert.equal((await send(server, { body }))[0], 200, "the bridge still answers");
  },
);

test(
  "a client repeats no argument in a header: the schemas do not ask for it, and one that does is refused",
  deadline,
  async (t) => {
    const properties = {
      region: { type: "string", "x-mcp-header": "Region" },
      "x-mcp-header": { type: "string", default: { "x-mcp-header": "kept" } },
    };
    const run = tool({
      name: "run",
      description: "Runs there.",
      schema: { type: "object", properties },
      run: ({ region }) => `in ${region}`,
    });
    const server = (await bridged(t, "http", run)).server as Http;
    const client = await mcpClients.current(server);
    const { tools } = await client.listTools();
    assert.deepEqual(tools[0]?.inputSchema.properties, { ...properties, region: { type: "string" } });
    const result = await client.callTool({ name: "run", arguments: { region: "eu" } });
    assert.deepEqual(result.content, [{ type: "text", text: "in eu" }]);
    await client.close();
    const [status, why] = await send(server, {
      headers: { "Mcp-Param-Region": "us" },
      body: initialize("2025-06-18"),
    });
    assert.equal(status, 400);
    assert.match(why, /-32020.*not in the header mcp-param-region/);
  },
);

test("each server has its own token, and one listener serves all of a connection", deadline, async (t) => {
  const kit = mcpKit();
  const bridge = kit.bridge({ http: true, stdio: true });
  t.after(() => bridge.close());
  const [one, two] = await Promise.all([
    declare(kit.providers([echo], "tools"), bridge),
    declare(kit.providers([echo], "tools"), bridge),
  ]);
  const [first, second] = [one.server as Http, two.server as Http];
  assert.equal(new URL(first.url).host, new URL(second.url).host);
  const body = initialize("2025-06-18");
  const [status] = await send({ ...first, headers: second.headers ?? [] }, { body });
  assert.equal(status, 401);
  await one.close();
  assert.equal((await send(first, { body }))[0], 401, "its session has ended");
  assert.equal((await send(second, { body }))[0], 200);
  await bridge.close();
  await assert.rejects(
    send(second, { body }),
    { code: "ECONNREFUSED" },
    "the port closes with the connection (M19)",
  );
});

test("an agent that starts many sessions keeps the last 32", deadline, async (t) => {
  const server = (await bridged(t, "http")).server as Http;
  const sessions: string[] = [];
  for (let index = 0; index < 33; index++) {
    sessions.push((await send(server, { body: initialize("2025-06-18") }))[2]);
  }
  const list = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  const statusOf = async (session = "") =>
    (await send(server, { headers: { "Mcp-Session-Id": session }, body: list }))[0];
  assert.deepEqual([await statusOf(sessions[0]), await statusOf(sessions[1])], [404, 200]);
});

test(
  "a socket is for this user and for those who know the token, and goes with the server",
  deadline,
  async (t) => {
    const { server, close } = await bridged(t, "stdio");
    const path = envOf(server as Stdio)["PARLEY_BRIDGE_SOCKET"] ?? assert.fail();
    assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const stranger = connect(path);
    stranger.write(`${"0".repeat(64)}\n${initialize("2025-06-18")}\n`);
    const answer = await text(stranger);
    assert.match(answer, /not authenticated/);
    assert.doesNotMatch(answer, /protocolVersion/);
    await close();
    assert.equal(existsSync(path), false);
    assert.deepEqual(
      readdirSync(sockets).filter((name) => dirname(path).endsWith(name)),
      [],
    );
  },
);

test(
  "when the session ends, the command of the agent ends, and says so if it comes too late",
  deadline,
  async (t) => {
    const { server, close } = await bridged(t, "stdio");
    const client = await mcpClients.handshake(server);
    const ended = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await close();
    await ended;
    const late = new StdioClientTransport({ ...commandOf(server as Stdio), stderr: "pipe" });
    const said = text(late.stderr as never);
    await assert.rejects(new Client({ name: "late", version: "1" }).connect(late));
    assert.match(await said, /cannot reach the client's tools: ENOENT at /);
  },
);

test("a line without an end closes the command's connection after 16 MiB", deadline, async (t) => {
  const { server } = await bridged(t, "stdio");
  const env = envOf(server as Stdio);
  const socket = connect(env["PARLEY_BRIDGE_SOCKET"] ?? assert.fail());
  const closed = Promise.withResolvers<void>();
  socket.once("close", () => closed.resolve()).on("error", () => undefined);
  socket.resume();
  socket.write(`${env["PARLEY_BRIDGE_TOKEN"]}\n`);
  socket.write(`${initialize("2025-06-18").replace("raw", "r".repeat(12 * 1024 * 1024))}\n`);
  const [first] = await once(socket, "data");
  assert.match(String(first), /"protocolVersion"/, "what is below the limit is answered");
  const part = Buffer.alloc(1024 * 1024, "x");
  for (let count = 0; count < 17; count++) socket.write(part);
  await closed.promise;
});

test("connections without a token make room for the agent after a few seconds", deadline, async (t) => {
  const server = (await bridged(t, "http")).server as Http;
  const { port } = new URL(server.url);
  const idle = Array.from({ length: 256 }, () => connect(Number(port), "127.0.0.1"));
  t.after(() => {
    for (const each of idle) each.destroy();
  });
  const ended = idle.map(async (each) => {
    await once(each.on("error", () => undefined).resume(), "close");
  });
  await Promise.all(idle.map((each) => once(each, "connect")));
  const begun = Date.now();
  await Promise.all(ended);
  assert.ok(Date.now() - begun < 20_000, "long before the minute of Node");
  assert.equal((await send(server, { body: initialize("2025-06-18") }))[0], 200);
});

test("an agent that can use neither way gets nothing", deadline, async () => {
  const kit = mcpKit();
  const bridge = kit.bridge({ http: false, stdio: false });
  const [provider] = kit.providers([echo], "tools");
  assert.equal(
    await bridge.declare(provider ?? assert.fail(), { cwd: "/", sessionId: () => undefined }),
    undefined,
  );
  await bridge.close();
});
