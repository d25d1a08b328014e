// Unstable methods, steering and the output of terminals with the official SDK on the other side, in one process.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { agent, client, type SessionUpdate, textOf, type UnstableFeature } from "@parley/acp";
import { memoryPair, toWebStreams } from "@parley/acp/transport";
import { quiet } from "../support/peer-probe.ts";
import type { AnyAgent } from "./app-sdk-client.ts";
import { register, sdkOf, senderOf } from "./sdk-app.ts";

const deadline = { timeout: 20_000 };
const unstable: readonly UnstableFeature[] = [
  "archive",
  "session_title",
  "session_status",
  "auth_status",
  "providers",
];
const provider = { providerId: "main", supported: ["openai" as const], required: true };
const text = (words: string) => ({ type: "text" as const, text: words });

/** What the SDK passes around for a connection. */
interface Streams {
  readonly readable: ReadableStream<AnyMessage>;
  readonly writable: WritableStream<AnyMessage>;
}

for (const version of ["v1", "v2"] as const) {
  async function sdkClient() {
    const working = Promise.withResolvers<void>();
    const told: unknown[] = [];
    const ours = agent({
      name: "ours",
      version: "1",
      unstable,
      concurrentPrompts: "inbox",
      providers: {
        list: () => [provider],
        set: (setting) => void told.push(setting),
        disable: () => undefined,
      },
      async prompt(turn) {
        await turn.tool({ title: "Run" }, async (tool) => {
          const terminal = tool.terminal({ command: "make" });
          await terminal.write("built\n");
          terminal.exit({ exitCode: 0 });
        });
        working.resolve();
        for await (const { prompt } of turn.inbox) {
          told.push(textOf(prompt));
          break;
        }
      },
    });
    const [left, right] = memoryPair();
    ours.connect(left);
    const sdk = await sdkOf(version, true);
    const updates: Record<string, unknown>[] = [];
    const app = sdk.client({ name: "interop-client" });
    register(app, {
      requests: {},
      notifications: {
        "session/update": (params: { update: Record<string, unknown> }) => void updates.push(params.update),
      },
    });
    // as: the streams of the SDK have a narrower type of messages
    const connection = app.connect(toWebStreams(right) as never as Streams);
    const sender = senderOf<AnyAgent>(connection.agent);
    await sender.request(
      "initialize",
      version === "v1"
        ? { protocolVersion: 1, clientCapabilities: { _meta: { terminal_output: true } } }
        : { protocolVersion: 2, info: { name: "interop", version: "1" }, capabilities: {} },
    );
    const { sessionId } = (await sender.request("session/new", { cwd: "/project", mcpServers: [] })) as {
      sessionId: string;
    };
    return { sender, sessionId, updates, told, working: working.promise, close: () => ours.close() };
  }

  test(`SDK client (${version}): the unstable methods of our agent`, deadline, async () => {
    const { sender, sessionId, told, close } = await sdkClient();
    const ask = (method: string, params: object = {}) => sender.request(method, params);
    assert.deepEqual(await ask("auth/status"), { state: "not_required" });
    assert.deepEqual(await ask("providers/list"), { providers: [provider] });
    await ask("providers/set", { providerId: "main", apiType: "openai", baseUrl: "https://x.example" });
    assert.deepEqual(told, [{ providerId: "main", apiType: "openai", baseUrl: "https://x.example" }]);
    const status = (await ask("session/status", { sessionId })) as { status: string };
    assert.equal(status.status, "open");
    assert.deepEqual(await ask("session/set_title", { sessionId, title: "Named" }), { title: "Named" });
    await ask("session/archive", { sessionId });
    const { sessions } = (await ask("session/list", { archived: "only" })) as { sessions: object[] };
    assert.equal((sessions[0] as { archived: boolean; title: string }).title, "Named");
    await ask("session/unarchive", { sessionId });
    await assert.rejects(ask("session/archive", { sessionId: "nobody" }), { code: -32002 });
    await close();
  });

  test(`SDK client (${version}): it steers our agent, and sees its terminals`, deadline, async () => {
    const { sender, sessionId, updates, told, working, close } = await sdkClient();
    const turn = sender.request("session/prompt", { sessionId, prompt: [text("work")] });
    await working;
    if (version === "v1") {
      const answer = await sender.request("_session/steering", { sessionId, prompt: [text("stop")] });
      assert.deepEqual(answer, { outcome: "injected" });
    } else await sender.request("session/prompt", { sessionId, prompt: [text("stop")] });
    await turn;
    await quiet();
    assert.deepEqual(told, ["stop"]);
    const metas = updates.flatMap((update) => Object.keys((update["_meta"] as object | undefined) ?? {}));
    if (version === "v1") assert.deepEqual(metas, ["terminal_info", "terminal_output", "terminal_exit"]);
    else assert.ok(updates.some(({ sessionUpdate }) => sessionUpdate === "terminal_output_chunk"));
    await close();
  });

  test(`SDK agent (${version}): our client's calls, steering and terminals`, deadline, async () => {
    const sdk = await sdkOf(version, true);
    const [left, right] = memoryPair();
    const got: [string, unknown][] = [];
    const turn = Promise.withResolvers<object>();
    const update = (value: object) => theirs.notify("session/update", { sessionId: "s1", update: value });
    const answers: Record<string, unknown> = {
      initialize:
        version === "v1"
          ? {
              protocolVersion: 1,
              agentCapabilities: {
                auth: { status: {} },
                providers: {},
                sessionCapabilities: { list: {}, archive: {}, status: {}, title: {} },
              },
              _meta: { steering: { supported: true } },
            }
          : {
              protocolVersion: 2,
              info: { name: "theirs", version: "1" },
              capabilities: {
                auth: { status: {} },
                providers: {},
                session: { archive: {}, status: {}, title: {} },
              },
            },
      "session/new": { sessionId: "s1" },
      "session/list": { sessions: [{ sessionId: "s1", cwd: "/project", archived: true }] },
      "session/archive": {},
      "session/unarchive": {},
      "session/status": { status: "open", ...(version === "v2" && { state: { state: "running" } }) },
      "session/set_title": { title: "Stored" },
      "auth/status": { state: "authenticated", accounts: [{ label: "Key" }] },
      "providers/list": { providers: [provider] },
      "providers/set": {},
      "_session/steering": { outcome: "injected" },
    };
    const requests = Object.fromEntries(
      Object.keys(answers).map((method) => [
        method,
        (params: unknown) => {
          got.push([method, params]);
          return answers[method];
        },
      ]),
    );
    const app = sdk.agent({ name: "interop-agent" });
    let prompts = 0;
    register(app, {
      requests: {
        ...requests,
        "session/prompt": async (params: unknown) => {
          got.push(["session/prompt", params]);
          if (version === "v1") {
            const terminal = { terminal_id: "t" };
            await update({
              sessionUpdate: "tool_call",
              toolCallId: "c",
              title: "Run",
              content: [{ type: "terminal", terminalId: "t" }],
              _meta: { terminal_info: terminal },
            });
            await update({
              sessionUpdate: "tool_call_update",
              toolCallId: "c",
              _meta: { terminal_output: { ...terminal, data: "live" } },
            });
            return turn.promise;
          }
          prompts++;
          const messageId = `m${prompts}`;
          if (prompts === 1) await update({ sessionUpdate: "state_update", state: "running" });
          return { messageId };
        },
      },
      notifications: {},
    });
    // as: the streams of the SDK have a narrower type of messages
    const theirs = senderOf<AnyAgent>(app.connect(toWebStreams(left) as never as Streams).client);
    await using connection = await client({
      name: "ours",
      version: "1",
      unstable,
      editions: [version],
    }).connect(right);
    const changes: string[] = [];
    connection.onAuthStatus(({ state }) => changes.push(state));
    assert.deepEqual(await connection.authStatus(), { state: "authenticated", accounts: [{ label: "Key" }] });
    await theirs.notify("auth/status_update", { state: "unauthenticated" });
    assert.deepEqual((await connection.listProviders()).providers, [provider]);
    assert.deepEqual(changes, ["unauthenticated"]);
    await connection.setProvider({ providerId: "main", apiType: "openai", baseUrl: "https://x.example" });
    const [listed] = (await connection.listSessions({ archived: "only" })).sessions;
    assert.equal(listed?.archived, true);
    const session = await connection.newSession({ cwd: "/project" });
    assert.equal((await session.setTitle("Wanted")).title, "Stored");
    assert.equal((await connection.sessionStatus("s1")).status, "open");
    const updates: SessionUpdate[] = [];
    session.onUpdate((each) => updates.push(each));
    const prompt = session.prompt("work");
    await prompt.accepted;
    const steered = session.steer("stop");
    await steered.accepted;
    if (version === "v1") turn.resolve({ stopReason: "end_turn" });
    else await update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
    assert.equal((await prompt).stopReason, "end_turn");
    assert.equal((await steered).joined, true);
    if (version === "v1") {
      const output = updates.find((each) => each.sessionUpdate === "terminal_output_chunk");
      assert.equal(output?.data, btoa("live"));
      assert.deepEqual(got.at(-1), [
        "_session/steering",
        { sessionId: "s1", prompt: [text("stop")], _meta: { steering: { idleBehavior: "promptRequired" } } },
      ]);
    }
    await connection.archiveSession("s1");
    await connection.unarchiveSession("s1");
  });
}
