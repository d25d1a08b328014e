// The coding agent driven by the official SDK's clients, over real processes: their schemas are the judge of what
// it says.

import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { after, test } from "node:test";

const launcher = join(import.meta.dirname, "../bin/parley");
const temporary = realpathSync(mkdtempSync(join(tmpdir(), "parley-agent-sdk-test-")));
after(() => rmSync(temporary, { recursive: true, force: true }));
const patience = { timeout: 120_000 };

/** Either version's app, without the types of its methods. */
interface App {
  onRequest(method: string, handler: (call: { readonly params: never }) => unknown): unknown;
  onNotification(method: string, handler: (call: { readonly params: never }) => unknown): unknown;
  connect(stream: unknown): { readonly agent: object; close(): void };
}

interface Seen {
  readonly updates: Record<string, unknown>[];
  readonly asks: { readonly toolCall?: { title?: string }; readonly title?: string }[];
  idle: PromiseWithResolvers<Record<string, unknown>>;
}

const entries = {
  1: () => import("@agentclientprotocol/sdk"),
  2: () => import("@agentclientprotocol/sdk/experimental/v2"),
} as const;

async function connect(version: 1 | 2, home: string) {
  const env = { ...process.env, PARLEY_HOME: home, PARLEY_MODEL: "offline" };
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(launcher, ["agent"], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const sdk = await entries[version]();
  const seen: Seen = { updates: [], asks: [], idle: Promise.withResolvers() };
  // the overloads want literal method names; at run time any name will do
  const app = sdk.client({ name: "sdk-test" }) as unknown as App;
  app.onRequest("session/request_permission", ({ params }) => {
    seen.asks.push(params);
    return { outcome: { outcome: "selected", optionId: "allow_once" } };
  });
  app.onNotification("session/update", ({ params }) => {
    const { update } = params as { update: Record<string, unknown> };
    seen.updates.push(update);
    if (update["sessionUpdate"] === "state_update" && update["state"] === "idle") seen.idle.resolve(update);
  });
  const stream = sdk.ndJsonStream(
    Writable.toWeb(child.stdin),
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>, // Node's own type of the same thing
  );
  const connection = app.connect(stream);
  const agent = connection.agent as {
    request(method: string, params: unknown): Promise<Record<string, never>>;
  };
  const initialize =
    version === 1
      ? { protocolVersion: 1, clientCapabilities: {} }
      : { protocolVersion: 2, info: { name: "sdk-test", version: "1" }, capabilities: {} };
  await agent.request("initialize", initialize);
  const close = async () => {
    connection.close();
    child.stdin.end();
    assert.equal(await exited, 0);
  };
  return { agent, seen, close };
}

for (const version of [1, 2] as const) {
  test(
    `the official client works with the agent, and loads its session in another process (v${version})`,
    patience,
    async () => {
      const cwd = join(temporary, `v${version}`);
      const home = join(temporary, `home${version}`);
      mkdirSync(cwd);
      writeFileSync(join(cwd, "notes.txt"), "hello\n");
      const first = await connect(version, home);
      const opened: Record<string, unknown> = await first.agent.request("session/new", {
        cwd,
        mcpServers: [],
      });
      const sessionId = String(opened["sessionId"]);
      if (version === 1) {
        assert.equal((opened["modes"] as { currentModeId?: string }).currentModeId, "ask");
        await first.agent.request("session/set_mode", { sessionId, modeId: "code" });
      } else {
        await first.agent.request("session/set_config_option", {
          sessionId,
          configId: "mode",
          type: "id",
          value: "code",
        });
      }
      const words = 'replace "hello" with "bye" in notes.txt, then run cat notes.txt and explain notes.txt';
      const answer = await first.agent.request("session/prompt", {
        sessionId,
        prompt: [{ type: "text", text: words }],
      });
      const { stopReason } = version === 1 ? answer : await first.seen.idle.promise;
      assert.equal(stopReason, "end_turn");
      assert.equal(readFileSync(join(cwd, "notes.txt"), "utf8"), "bye\n");
      const titles = first.seen.asks.map((ask) => (version === 1 ? ask.toolCall?.title : ask.title));
      assert.deepEqual(titles, ["cat notes.txt"], "mode code asks about the command only");
      const kinds = new Set(first.seen.updates.map((update) => update["sessionUpdate"]));
      for (const kind of ["agent_message_chunk", "agent_thought_chunk", "tool_call_update", "usage_update"])
        assert.ok(kinds.has(kind), kind);
      await first.close();

      const second = await connect(version, home);
      const [method, more] =
        version === 1 ? ["session/load", {}] : ["session/resume", { replayFrom: { type: "start" } }];
      await second.agent.request(method, { sessionId, cwd, mcpServers: [], ...more });
      const texts = (updates: Seen["updates"]) =>
        updates
          .filter(
            (update) =>
              update["sessionUpdate"] === "agent_message_chunk" ||
              update["sessionUpdate"] === "agent_message",
          )
          .map((update) => JSON.stringify(update["content"]))
          .join("");
      assert.match(texts(second.seen.updates), /bye/);
      await second.close();
    },
  );
}
