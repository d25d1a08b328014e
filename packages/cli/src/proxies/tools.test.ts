// The servers of the proxy `tools`, as an agent sees them.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { client } from "@parley/acp";
import { conductor } from "@parley/acp/proxy";
import { memoryPair } from "@parley/acp/transport";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { tools } from "./tools.ts";

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: {
    readonly mcpServers?: readonly { readonly env: readonly { readonly value: string }[] }[];
  };
}

const gone = async (path = "") => {
  while (existsSync(path)) await new Promise(setImmediate);
};

test("a server of tools goes with its session, and soon after opens that are refused", {
  timeout: 60_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-tools-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "tools.mjs");
  writeFileSync(file, `export default [{ name: "hi", description: "Hi.", run: () => "hi" }];`);
  const sockets: string[] = [];
  let refuses = false;
  const agent = () => {
    const [near, far] = memoryPair();
    const message = (value: unknown) => {
      const { id, method, params } = value as Asked; // as: of the client
      if (id === undefined) return;
      const agentCapabilities = { sessionCapabilities: { close: {} } };
      const results: Record<string, object> = { initialize: { protocolVersion: 1, agentCapabilities } };
      for (const { env } of params.mcpServers ?? []) sockets.push(env[0]?.value ?? "");
      if (method === "session/new" && refuses)
        return void far.send({ jsonrpc: "2.0", id, error: { code: -32_000, message: "log in first" } });
      far.send({ jsonrpc: "2.0", id, result: results[method] ?? { sessionId: "s" } });
    };
    const ignored = () => undefined;
    far.start({ message, idle: ignored, reject: ignored, drain: ignored, end: ignored });
    return near;
  };
  const host = {
    folder,
    warn: assert.fail,
    reach: () => Promise.reject(new Error("none")),
    secrets: () => [],
  };
  const start = tools.create(proxyArguments(tools, ["--file", file], "--proxy"), host);
  const connection = await client({ name: "c", version: "1" }).connect(conductor([start, agent]));
  t.after(() => connection.close());
  const session = await connection.newSession({ cwd: "/" });
  assert.ok(existsSync(sockets[0] ?? ""));
  refuses = true;
  for (let count = 0; count < 9; count++)
    await assert.rejects(connection.newSession({ cwd: "/" }), /log in first/);
  await gone(sockets[1]);
  assert.ok(existsSync(sockets[0] ?? ""), "the session is open");
  await session.close();
  await gone(sockets[0]);
});
