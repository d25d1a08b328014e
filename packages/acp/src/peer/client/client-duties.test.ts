// The client rules (C) of docs/rules.md: what the library never sends, and what it always answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  inEveryVersion,
  initialize,
  initialized,
  openSession,
  place,
  quiet,
  rejects,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { type ContentBlock, client, type Entry, RequestError } from "../../index.ts";
import type { ProtocolVersion } from "../../internal.ts";
import type { McpServer } from "../../model.ts";
import { applyEntry, createView } from "../../view.ts";

const versions = [1, 2] as const;
const options = [{ optionId: "a", name: "A", kind: "allow_once" }];

/** An agent that can do nothing beyond what every agent can. */
const bare = (version: ProtocolVersion) =>
  version === 1
    ? { protocolVersion: 1, agentCapabilities: {} }
    : { protocolVersion: 2, info: { name: "raw", version: "1" }, capabilities: { session: {} } };

function permission(version: ProtocolVersion, sessionId: string): object {
  const subject = version === 1 ? { toolCall: { toolCallId: "t" } } : { title: "T" };
  return { sessionId, ...subject, options };
}

test("C1 nothing goes out before initialize is answered, and no prompt before its session is there", async () => {
  for (const version of versions) {
    const answer = Promise.withResolvers<object>();
    const talking = withScriptedAgent(version, {
      initialize: () => answer.promise,
      "session/prompt": () => (version === 1 ? { stopReason: "end_turn" } : { messageId: "m" }),
    });
    await quiet();
    answer.resolve(initialized(version));
    const { agent, peer } = await talking;
    assert.deepEqual(peer.methods(), ["initialize"]);
    const opening = agent.newSession(place).then((session) => session.prompt("x").accepted);
    await quiet();
    await opening;
    assert.deepEqual(peer.methods(), ["initialize", "session/new", "session/prompt"]);
  }
});

test("C2 the newest version is offered, as an integer, in whatever order the app lists them", async () => {
  for (const [listed, offered] of [
    [undefined, 2],
    [["v1", "v2"], 2],
    [["v2"], 2],
    [["v1"], 1],
  ] as const) {
    const { peer } = await withScriptedAgent(offered, {}, listed === undefined ? {} : { editions: listed });
    assert.equal(peer.got[0]?.params.protocolVersion, offered);
  }
  assert.throws(() => client({ name: "c", version: "1", editions: [] as never }), /empty list/);
});

test("C5 C6 C7 C8 C9 C65 what an agent did not declare is not asked of it, and the error says what is missing", async () => {
  const stdio: McpServer = { type: "stdio", name: "s", command: "/bin/x", args: [], env: [] };
  const http: McpServer = { type: "http", name: "h", url: "https://example.com", headers: [] };
  const sse = { type: "sse", name: "e", url: "https://example.com", headers: [] } as never as McpServer;
  for (const version of versions) {
    const { agent, peer } = await withScriptedAgent(version, {
      initialize: () => bare(version),
      "session/close": () => ({}),
    });
    const refused: [Promise<unknown>, RegExp][] = [
      [agent.forkSession("s", place), /does not fork/],
      [agent.deleteSession("s"), /does not delete/],
      [agent.newSession({ ...place, additionalDirectories: ["/b"] }), /additional directories/],
      [agent.newSession({ ...place, mcpServers: [http] }), /over HTTP/],
      [agent.newSession({ ...place, mcpServers: [sse] }), /over SSE/],
      [
        agent.newSession({ ...place, systemPrompt: { mode: "append", content: [text("be brief")] } }),
        /system prompt/,
      ],
    ];
    if (version === 1) {
      refused.push([agent.loadSession("s", place), /does not load/]);
      refused.push([agent.resumeSession("s", place), /does not resume/]);
      refused.push([agent.listSessions(), /does not list/]);
    } else refused.push([agent.newSession({ ...place, mcpServers: [stdio] }), /over stdio/]);
    for (const [call, message] of refused) await assert.rejects(call, { name: "TypeError", message });
    assert.deepEqual(peer.methods(), ["initialize"]);
    // closing where the agent has no close is the end of it here
    const session = await agent.newSession(place);
    await session.close();
    assert.ok(version === 2 || !peer.methods().includes("session/close"));
  }
});

test("C5 an agent of version 2 that declares no sessions is not asked for one", async () => {
  const { agent, peer } = await withScriptedAgent(2, {
    initialize: () => ({ protocolVersion: 2, info: { name: "raw", version: "1" }, capabilities: {} }),
  });
  for (const call of [
    agent.newSession(place),
    agent.loadSession("s", place),
    agent.resumeSession("s", place),
    agent.listSessions(),
  ])
    await assert.rejects(call, TypeError);
  assert.deepEqual(peer.methods(), ["initialize"]);
});

inEveryVersion(
  "C21 C22 G7 a prompt with content that the agent does not take, or with none, throws at the call",
  async (pair) => {
    const { session, updates, wire } = await openSession(pair, { prompt: () => undefined });
    const blocks: ContentBlock[] = [
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "audio", data: "aGk=", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a", text: "x" } },
      { type: "hologram" } as never,
      { type: "text", text: 7 } as never,
    ];
    const sent = wire.length;
    for (const block of blocks) assert.throws(() => session.prompt([text("x"), block]), TypeError);
    assert.throws(() => session.prompt([]), TypeError);
    assert.equal(wire.length, sent, "nothing was sent");
    assert.deepEqual(updates, [], "and nothing is shown as sent");
    const link: ContentBlock = { type: "resource_link", uri: "file:///a", name: "a" };
    assert.equal((await session.prompt([text("x"), link]).result).stopReason, "end_turn");
  },
);

inEveryVersion("C21 what the agent declared may be sent", async (pair) => {
  let got: readonly ContentBlock[] = [];
  const { session } = await openSession(pair, {
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    prompt: (turn) => {
      got = turn.prompt;
    },
  });
  const blocks: ContentBlock[] = [
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///a", text: "x" } },
  ];
  await session.prompt(blocks).result;
  assert.deepEqual(got, blocks);
});

inEveryVersion(
  "A110 an agent refuses a block that it did not declare with -32602, and works on",
  async ({ version }) => {
    const { call } = withScriptedClient({ prompt: () => undefined });
    await call("initialize", initialize(version));
    const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    const image = { type: "image", data: "aGk=", mimeType: "image/png" };
    await rejects(call("session/prompt", { sessionId, prompt: [text("x"), image] }), -32602);
    assert.ok(await call("session/prompt", { sessionId, prompt: [text("x")] }));
  },
);

test("C65 a system prompt is declared, overrides where that is declared, and is text", async () => {
  for (const version of versions) {
    const systemPrompt = {};
    const { agent, peer } = await withScriptedAgent(
      version,
      {
        initialize: () =>
          version === 1
            ? { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { systemPrompt } } }
            : {
                protocolVersion: 2,
                info: { name: "raw", version: "1" },
                capabilities: { session: { systemPrompt } },
              },
      },
      { unstable: ["system_prompt"] },
    );
    const open = (mode: "append" | "override", ...content: object[]) =>
      agent.newSession({ ...place, systemPrompt: { mode, content: content as never } });
    await assert.rejects(open("override", text("x")), /does not let a system prompt override/);
    await assert.rejects(open("append"), /blocks of text/);
    await assert.rejects(open("append", text("")), /blocks of text/);
    await assert.rejects(open("append", { type: "image", data: "", mimeType: "a/b" }), /blocks of text/);
    await open("append", text("x"));
    assert.deepEqual(peer.methods(), ["initialize", "session/new"]);
    await agent.close();
  }
});

test("C14 X11 a directory that is not absolute is refused at the call, for new, load and resume", async () => {
  for (const version of versions) {
    const directories = { additionalDirectories: {} };
    const { agent, peer } = await withScriptedAgent(version, {
      initialize: () =>
        version === 1
          ? {
              protocolVersion: 1,
              agentCapabilities: {
                loadSession: true,
                sessionCapabilities: { resume: {}, ...directories },
              },
            }
          : { ...initialized(2), capabilities: { session: directories } },
    });
    for (const wrong of [{ cwd: "work" }, { cwd: "" }, { cwd: "/w", additionalDirectories: ["b"] }]) {
      for (const call of [
        agent.newSession(wrong),
        agent.loadSession("s", wrong),
        agent.resumeSession("s", wrong),
      ])
        await assert.rejects(call, { name: "TypeError", message: /absolute/ });
    }
    assert.deepEqual(peer.methods(), ["initialize"]);
  }
});

inEveryVersion(
  "C14 C15 C16 C17 C19 load and resume name the session, the directory and the servers as given now, and nothing from before",
  async (pair) => {
    const { agent, wire } = await conversation(pair, { prompt: () => undefined });
    const mcpServers: McpServer[] = [{ type: "stdio", name: "s", command: "/bin/x", args: [], env: [] }];
    const first = await agent.newSession({
      cwd: "/w",
      additionalDirectories: ["/b", "/w", "/b", "/c"],
      mcpServers,
    });
    await first.close();
    const listed = (await agent.listSessions()).sessions.find(
      ({ sessionId }) => sessionId === first.sessionId,
    );
    assert.ok(listed);
    const sent = () => wire.findLast(({ from, message }) => from === "client" && message.method)?.message;
    await (await agent.loadSession(first.sessionId, { cwd: listed.cwd, mcpServers })).close();
    const load = wire.findLast(({ message }) => /load|resume/.test(String(message.method)))?.message
      .params as Record<string, unknown>;
    assert.equal(load.sessionId, first.sessionId);
    assert.equal(load.cwd, "/w");
    assert.equal((load.mcpServers as unknown[]).length, 1);
    assert.equal(load.additionalDirectories, undefined);
    await agent.resumeSession(first.sessionId, { cwd: "/w", additionalDirectories: ["/c"] });
    const resumed = sent()?.params as Record<string, unknown>;
    assert.deepEqual([resumed.cwd, resumed.additionalDirectories], ["/w", ["/c"]]);
    assert.deepEqual(resumed.mcpServers, []);
    const opened = wire.find(({ message }) => message.method === "session/new")?.message.params as object;
    assert.deepEqual((opened as { additionalDirectories: unknown }).additionalDirectories, ["/b", "/c"]);
  },
);

test("C23 C70 every question is answered, also while a prompt is open, for no session, and when the handler throws", async () => {
  for (const version of versions) {
    let asked = 0;
    const { agent, peer } = await withScriptedAgent(
      version,
      { "session/prompt": () => (version === 1 ? new Promise(() => undefined) : { messageId: "m" }) },
      {
        requestPermission: () => {
          asked++;
          if (asked === 2) throw new Error("mine");
          return "a";
        },
      },
    );
    const session = await agent.newSession(place);
    await session.prompt("x").accepted;
    const ask = (sessionId: string) =>
      peer.connection.request("session/request_permission", permission(version, sessionId));
    assert.deepEqual(await ask("s1"), { outcome: { outcome: "selected", optionId: "a" } });
    await rejects(ask("s1"), -32603);
    assert.deepEqual(await ask("nobody"), { outcome: { outcome: "cancelled" } });
    assert.equal(asked, 2, "nobody is asked for a session that is not there");
    await agent.close();
  }
});

test("N131 N132 a question without options is no question, and options that share an id are refused unseen", async () => {
  for (const version of versions) {
    let asked = 0;
    const { agent, peer } = await withScriptedAgent(version, {}, { requestPermission: () => void asked++ });
    await agent.newSession(place);
    const ask = (offered: object[]) =>
      peer.connection.request("session/request_permission", {
        ...permission(version, "s1"),
        options: offered,
      });
    // version 2's schema wants one at least
    if (version === 1) assert.deepEqual(await ask([]), { outcome: { outcome: "cancelled" } });
    else await rejects(ask([]), -32602, { path: "/options" });
    const twins = [...options, { optionId: "a", name: "No", kind: "reject_once" }];
    await rejects(ask(twins), -32602, { reason: "invalid_params", path: "/options/1/optionId" });
    assert.equal(asked, 0);
  }
});

test("a question whose handler fails is over: it is not shown as open", async () => {
  for (const version of versions) {
    const fail = () => {
      throw new Error("mine");
    };
    const { agent, peer } = await withScriptedAgent(version, {}, { requestPermission: fail, elicit: fail });
    const view = createView();
    const onEntry = (entry: Entry) => applyEntry(view, entry);
    await agent.newSession({ ...place, onEntry });
    await rejects(peer.connection.request("session/request_permission", permission(version, "s1")), -32603);
    const form = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } };
    await rejects(peer.connection.request("elicitation/create", { sessionId: "s1", ...form }), -32603);
    assert.equal(
      view.timeline.filter(({ kind }) => kind === "permission" || kind === "elicitation").length,
      2,
    );
    assert.equal(view.pendingAsks.size, 0);
  }
});

test("C25 E8 a question that the agent withdraws is answered cancelled, and its handler is told", async () => {
  for (const version of versions) {
    const signals: AbortSignal[] = [];
    const { agent, peer } = await withScriptedAgent(
      version,
      {},
      {
        requestPermission: (_ask, { signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    );
    await agent.newSession(place);
    const withdrawn = new AbortController();
    const answer = peer.connection.request("session/request_permission", permission(version, "s1"), {
      signal: withdrawn.signal,
    });
    await quiet();
    withdrawn.abort();
    assert.deepEqual(await answer, { outcome: { outcome: "cancelled" } });
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true],
    );
  }
});

test("C24 a cancel of work that no prompt of ours began answers what is asked until it has ended (v2)", async () => {
  let asked = 0;
  const { agent, peer } = await withScriptedAgent(
    2,
    {},
    {
      requestPermission: () => {
        asked++;
        return "a";
      },
    },
  );
  const session = await agent.newSession(place);
  const state = (name: string) => peer.update("s1", { sessionUpdate: "state_update", state: name });
  const ask = () => peer.connection.request("session/request_permission", permission(2, "s1"));
  state("running");
  await quiet();
  session.cancel();
  assert.deepEqual(await ask(), { outcome: { outcome: "cancelled" } });
  state("idle");
  assert.deepEqual(await ask(), { outcome: { outcome: "selected", optionId: "a" } });
  assert.equal(asked, 1);
});

test("C54 a state that was reported before the answer names the session is not overwritten by it", async () => {
  const { agent, peer } = await withScriptedAgent(2, {
    "session/new": () => {
      peer.update("s1", { sessionUpdate: "state_update", state: "running" });
      return { sessionId: "s1", configOptions: [], availableCommands: [] };
    },
  });
  const session = await agent.newSession(place);
  assert.equal(session.state, "running");
});

test("C44 C47 the end of a flow that is unknown or over is ignored; a mode that nobody knows is refused, not shown", async () => {
  for (const version of versions) {
    const completed: string[] = [];
    const shown: unknown[] = [];
    const { agent, peer } = await withScriptedAgent(
      version,
      {},
      {
        elicit: (ask) => {
          shown.push(ask.mode);
          return { action: ask.message === "no" ? "decline" : "accept" };
        },
        elicitationCompleted: (id) => void completed.push(id),
      },
    );
    await agent.newSession(place);
    const create = (elicitationId: string, message: string, mode = "url") =>
      peer.connection.request("elicitation/create", {
        sessionId: "s1",
        mode,
        message,
        elicitationId,
        url: "https://example.com",
      });
    await create("e1", "yes");
    await create("e2", "no");
    for (const elicitationId of ["nobody's", "e1", "e1", "e2"])
      peer.notify("elicitation/complete", { elicitationId });
    await rejects(create("e3", "yes", "_telepathy"), -32602);
    assert.deepEqual(completed, ["e1"]);
    assert.deepEqual(shown, ["url", "url"]);
  }
});

test("C67 whose account it is reaches neither the log nor an id", async () => {
  for (const version of versions) {
    const logged: unknown[] = [];
    const { agent, peer } = await withScriptedAgent(
      version,
      {},
      { log: (...line) => void logged.push(line) },
    );
    const session = await agent.newSession(place);
    const account = { label: "canary-label", name: "canary-name", email: "canary@example.com", active: true };
    for (const method of ["auth/status_update", "_auth/status_update"]) {
      peer.notify(method, { state: "authenticated", accounts: [account] });
      // and one that nobody can read
      peer.notify(method, { state: 7, accounts: [{ ...account, active: "canary-active" }, "canary-text"] });
    }
    await quiet();
    assert.doesNotMatch(JSON.stringify(logged), /canary/);
    assert.doesNotMatch(JSON.stringify([agent, session.sessionId, peer.methods()]), /canary/);
  }
});

test("C69 a subagent is only shown: what ends its parent sends nothing to it", async () => {
  const { agent, peer } = await withScriptedAgent(2, { "session/close": () => ({}) }, { unstable: "*" });
  const session = await agent.newSession(place);
  const child = { sessionId: "child", title: "Tests", state: { state: "running" } };
  peer.update("s1", { sessionUpdate: "subagent_update", ...child });
  peer.update("s1", { sessionUpdate: "subagent_update", ...child, capabilities: { cancel: {} } });
  session.cancel();
  await session.close();
  await quiet();
  assert.doesNotMatch(JSON.stringify(peer.got), /child/);
});

test("C58 E12 a tool call or a terminal is cancelled by itself only where the agent offers it", async () => {
  const { agent, peer } = await withScriptedAgent(2, {
    "tool_call/cancel": () => ({}),
    "terminal/cancel": () => ({}),
  });
  const session = await agent.newSession(place);
  const call = (patch: object) =>
    peer.update("s1", { sessionUpdate: "tool_call_update", toolCallId: "t", ...patch });
  call({ title: "T", status: "in_progress" });
  await quiet();
  await assert.rejects(session.cancelToolCall("t"), TypeError);
  await assert.rejects(session.cancelTerminal("x"), TypeError);
  call({ capabilities: { cancel: {} } });
  call({ status: "in_progress" });
  peer.update("s1", {
    sessionUpdate: "terminal_update",
    terminalId: "x",
    capabilities: { cancel: {} },
  });
  await quiet();
  await session.cancelToolCall("t");
  await session.cancelTerminal("x");
  assert.deepEqual(peer.got.slice(-2), [
    { method: "tool_call/cancel", params: { sessionId: "s1", toolCallId: "t" } },
    { method: "terminal/cancel", params: { sessionId: "s1", terminalId: "x" } },
  ]);
  call({ capabilities: null, status: "completed" });
  await quiet();
  await assert.rejects(session.cancelToolCall("t"), TypeError);
});

test("C59 E9 a session that the agent does not know any more is closed; any other error is told", async () => {
  for (const version of versions) {
    let kind: "not_found" | "internal_error" = "not_found";
    const { agent } = await withScriptedAgent(version, {
      "session/close": () => {
        throw new RequestError(kind, "no");
      },
    });
    const session = await agent.newSession(place);
    await session.close();
    kind = "internal_error";
    const other = await agent.newSession(place);
    await rejects(other.close(), -32603);
  }
});
