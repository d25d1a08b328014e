// Connections to real MCP servers of every kind.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createMcpHandler, McpServer as OfficialServer } from "@modelcontextprotocol/server";
import { McpFailure } from "@parley/acp";
import type { McpServer } from "@parley/acp/model";
import { mcpKit } from "@parley/mcp";
import { z } from "zod";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-connect-")));
const everything = fileURLToPath(
  import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
);
const { connect } = mcpKit();
const deadline = { timeout: 120_000 };
const running: ChildProcess[] = [];

after(() => {
  for (const each of running) each.kill();
  rmSync(folder, { recursive: true, force: true });
});

const stdio = (more: object = {}): McpServer => ({
  type: "stdio",
  name: "real",
  command: process.execPath,
  args: [everything, "stdio"],
  env: [],
  ...more,
});

/** A real server on a free port, as soon as it listens. */
async function listening(kind: "streamableHttp" | "sse"): Promise<string> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const child = spawn(process.execPath, [everything, kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.push(child);
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (text: Buffer) => {
      if (/on port/i.test(String(text))) resolve();
    });
  });
  return `http://127.0.0.1:${port}`;
}

let http: McpServer;
let sse: McpServer;
before(async () => {
  const [one, other] = await Promise.all([listening("streamableHttp"), listening("sse")]);
  http = { type: "http", name: "real", url: `${one}/mcp`, headers: [] };
  // version 2 has no such kind
  sse = { type: "sse", name: "real", url: `${other}/sse`, headers: [] } as never as McpServer;
});

for (const kind of ["stdio", "http", "sse"] as const) {
  test(`a server of the kind ${kind} is asked, tells its progress, and is cancelled`, deadline, async () => {
    await using channel = await connect({ stdio: stdio(), http, sse }[kind], { cwd: folder });
    const discovered = (await channel.request("server/discover")) as { capabilities: object; _meta: object };
    assert.ok("tools" in discovered.capabilities);
    assert.match(JSON.stringify(discovered._meta), /"name":"mcp-servers\/everything"/);
    const { tools } = (await channel.request("tools/list")) as { tools: { name: string }[] };
    assert.ok(tools.some(({ name }) => name === "echo"));
    const echo = { name: "echo", arguments: { message: "hi" } };
    assert.partialDeepStrictEqual(await channel.request("tools/call", echo), {
      content: [{ type: "text", text: "Echo: hi" }],
    });
    const long = (steps: number) => ({
      name: "trigger-long-running-operation",
      arguments: { duration: steps / 5, steps },
      _meta: { progressToken: "mine" },
    });
    const heard: unknown[] = [];
    await channel.request("tools/call", long(2), {
      onNotification: (method, params) => heard.push([method, params]),
    });
    assert.deepEqual(heard[0], ["notifications/progress", { progress: 1, total: 2, progressToken: "mine" }]);
    const cancel = new AbortController();
    const slow = channel.request("tools/call", long(500), {
      signal: cancel.signal,
      onNotification: () => cancel.abort(new Error("enough")),
    });
    await assert.rejects(slow, /enough/);
    await assert.rejects(channel.request("no/such"), (error) => {
      assert.ok(error instanceof McpFailure);
      assert.equal(error.body.code, -32_601);
      return true;
    });
  });
}

test("a server runs in the directory of the session, or in its own", deadline, async () => {
  const script = `
    const { McpServer } = require("@modelcontextprotocol/server");
    const { serveStdio } = require("@modelcontextprotocol/server/stdio");
    serveStdio(() => {
      const server = new McpServer({ name: "where", version: "1.0.0" });
      server.registerTool("where", {}, () => ({ content: [{ type: "text", text: process.cwd() }] }));
      return server;
    });`;
  const root = join(import.meta.dirname, "..");
  const where = async (more: object, cwd: string) => {
    const server = stdio({
      args: ["-e", script],
      env: [{ name: "NODE_PATH", value: join(root, "../../node_modules") }],
      ...more,
    });
    await using channel = await connect(server, { cwd });
    const { content } = (await channel.request("tools/call", { name: "where" })) as {
      content: { text: string }[];
    };
    return content[0]?.text;
  };
  assert.equal(await where({}, folder), folder);
  assert.equal(await where({ cwd: folder }, root), folder, "absolute");
  assert.equal(await where({ cwd: "test" }, root), join(root, "test"), "below the session's");
  assert.equal(
    await where({ _meta: { cwd: folder } }, root),
    folder,
    "in _meta, where the edition drops it elsewhere",
  );
});

test(
  "a server that does not start, cannot be reached or never answers is named with the reason",
  deadline,
  async () => {
    const failing = (server: McpServer, more: object = {}) => connect(server, { cwd: folder, ...more });
    const bad = stdio({ args: ["-e", "console.error('no key given'); process.exit(3)"] });
    await assert.rejects(
      failing(bad),
      /^Error: the MCP server real is not running: .*3.*\.\nIt wrote:\nno key given/s,
    );
    await assert.rejects(
      failing(stdio({ command: "/nowhere/at-all" })),
      /the MCP server real .*\/nowhere\/at-all/,
    );
    const silent = stdio({ args: ["-e", "process.stdin.resume()"] });
    await assert.rejects(
      failing({ ...silent, timeout: 300 } as never),
      /the MCP server real did not answer in time/,
    );
    await assert.rejects(failing(silent, { timeoutMs: 300 }), /did not answer in time/);
    const cancel = new AbortController();
    cancel.abort(new Error("never mind"));
    await assert.rejects(failing(silent, { signal: cancel.signal }), /never mind/);
    await assert.rejects(
      failing({ type: "http", name: "far", url: "http://127.0.0.1:9/mcp", headers: [] }),
      /the MCP server far at http:\/\/127\.0\.0\.1:9 cannot be used: /,
    );
    await assert.rejects(
      failing({ type: "http", name: "odd", url: "ftp://x", headers: [] }),
      /^TypeError: the MCP server odd: its url must begin with http:\/\/ or https:\/\//,
    );
  },
);

test("a server that knows 2026-07-28 alone is reached", deadline, async () => {
  const handler = createMcpHandler(
    () => {
      const server = new OfficialServer({ name: "new", version: "2.0.0" });
      server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
        content: [{ type: "text", text }],
      }));
      return server;
    },
    { legacy: "reject" },
  );
  const listener = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    const { method = "GET" } = request;
    const body = method === "POST" ? { body: Buffer.concat(chunks) } : {};
    const answer = await handler.fetch(new Request("http://127.0.0.1/", { method, headers, ...body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as AddressInfo;
  try {
    const server: McpServer = { type: "http", name: "new", url: `http://127.0.0.1:${port}/`, headers: [] };
    await using channel = await connect(server, { cwd: folder });
    assert.partialDeepStrictEqual(
      await channel.request("tools/call", { name: "echo", arguments: { text: "x" } }),
      {
        content: [{ text: "x" }],
      },
    );
    assert.partialDeepStrictEqual(await channel.request("server/discover"), {
      supportedVersions: ["2026-07-28"],
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "new", version: "2.0.0" } },
    });
  } finally {
    await handler.close();
    listener.closeAllConnections();
    listener.close();
  }
});
