// What an agent owes a client whatever its app does: each test writes the client's side of the wire by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aborted,
  conversation,
  inEveryVersion,
  initialize,
  openSession,
  type Prompted,
  place,
  quiet,
  rejects,
  type ScriptedPeer,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { forkBeforeKey } from "../../extensions.ts";
import type { AgentSession, OpenRequest } from "../../index.ts";
import { memoryStore } from "../../store.ts";

const prompt: Prompted = (turn) => void turn.say(`you said ${turn.text}`);
const where = { cwd: "/project", mcpServers: [] };

type Json = Record<string, unknown>;

async function started(version: number, definition: Json & { prompt: Prompted }, answers = {}) {
  const talk = withScriptedClient(definition, answers);
  const introduced = (await talk.call("initialize", initialize(version))) as Json;
  return { ...talk, introduced };
}

async function withSession(version: number, definition: Json & { prompt: Prompted }, answers = {}) {
  const talk = await started(version, definition, answers);
  const { sessionId } = (await talk.call("session/new", where)) as { sessionId: string };
  return { ...talk, sessionId };
}

const updatesOf = (peer: ScriptedPeer) =>
  peer.got.flatMap(({ method, params }) => (method === "session/update" ? [params["update"] as Json] : []));

test("A2 a version that the agent speaks is answered with itself", async () => {
  for (const version of [1, 2]) {
    const { introduced } = await started(version, { prompt });
    assert.equal(introduced["protocolVersion"], version);
  }
  const { introduced } = await started(1, { prompt, editions: ["v1"] });
  assert.equal(introduced["protocolVersion"], 1);
});

test("A7 A10 A11 what is declared is there, on either version", async () => {
  const features = {
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    unstable: "*",
  };
  const v1 = await started(1, { prompt, ...features, auth: { logout: () => undefined } });
  assert.deepEqual(v1.introduced["agentCapabilities"], {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true, acp: true },
    sessionCapabilities: {
      list: {},
      resume: {},
      close: {},
      delete: {},
      fork: { _meta: { [forkBeforeKey]: true } },
      additionalDirectories: {},
      systemPrompt: { mode: { override: {} } },
      archive: {},
      status: {},
      title: {},
    },
    auth: { logout: {}, status: {} },
  });
  const v2 = await started(2, { prompt, ...features });
  assert.deepEqual(v2.introduced["capabilities"], {
    session: {
      prompt: { image: {}, audio: {}, embeddedContext: {} },
      mcp: { stdio: {}, http: {}, acp: {} },
      delete: {},
      fork: { _meta: { [forkBeforeKey]: true } },
      additionalDirectories: {},
      systemPrompt: { mode: { override: {} } },
      archive: {},
      status: {},
      title: {},
    },
    auth: { status: {} },
  });
  const plain = await started(1, { prompt });
  const { promptCapabilities } = plain.introduced["agentCapabilities"] as Json;
  assert.deepEqual(promptCapabilities, { image: false, audio: false, embeddedContext: false });
  for (const version of [1, 2]) {
    const { call, peer, sessionId } = await withSession(version, { prompt, unstable: "*" });
    await call("session/list", {});
    await call("session/prompt", { sessionId, prompt: [text("x")] });
    peer.notify("session/cancel", { sessionId });
    await quiet();
    assert.ok(updatesOf(peer).length > 0, "session/update");
    if (version === 1) await call("session/load", { sessionId, ...where });
    await call("session/resume", { sessionId, ...where });
    await call("session/fork", { sessionId, ...where });
    await call("session/status", { sessionId });
    await call("session/set_title", { sessionId, title: "Named" });
    await call("auth/status", {});
    await call("session/close", { sessionId });
    await call("session/archive", { sessionId });
    await call("session/unarchive", { sessionId });
    await call("session/delete", { sessionId });
  }
});

test("A7 A8 A81 A86 A103 an agent works with every combination of what a client declares, and uses nothing else", async () => {
  const names = ["read", "write", "terminal", "form", "url", "boolean", "notices", "compaction"];
  for (let bits = 0; bits < 2 ** names.length; bits++) {
    const has = (name: string) => (bits & (1 << names.indexOf(name))) !== 0;
    const mark = (name: string, key = name) => (has(name) ? { [key]: {} } : {});
    const { peer, call } = withScriptedClient(
      { prompt: everything, session: { open: withBoolean } },
      {
        "fs/read_text_file": () => ({ content: "" }),
        "fs/write_text_file": () => ({}),
        "terminal/create": () => ({ terminalId: "t" }),
        "terminal/release": () => ({}),
        "elicitation/create": () => ({ action: "decline" }),
      },
    );
    await call("initialize", {
      protocolVersion: 1,
      clientCapabilities: {
        fs: { readTextFile: has("read"), writeTextFile: has("write") },
        terminal: has("terminal"),
        elicitation: { ...mark("form"), ...mark("url") },
        session: { configOptions: mark("boolean"), ...mark("notices"), ...mark("compaction") },
      },
    });
    const { sessionId, configOptions } = (await call("session/new", where)) as {
      sessionId: string;
      configOptions: { type: string }[];
    };
    assert.equal(configOptions[0]?.type, has("boolean") ? "boolean" : "select");
    assert.deepEqual(await call("session/prompt", { sessionId, prompt: [text("x")] }), {
      stopReason: "end_turn",
    });
    await quiet();
    const methods = new Set(peer.methods());
    assert.equal(methods.has("fs/read_text_file"), has("read"));
    assert.equal(methods.has("fs/write_text_file"), has("write"));
    assert.equal(methods.has("terminal/create"), has("terminal"));
    assert.equal(methods.has("elicitation/create"), has("form") || has("url"));
    const kinds = new Set(updatesOf(peer).map(({ sessionUpdate }) => sessionUpdate));
    assert.equal(kinds.has("notice"), has("notices"));
    assert.equal(kinds.has("compaction_update"), has("compaction"));
  }
});

const withBoolean = (session: AgentSession) =>
  session.setConfigOptions([{ configId: "fast", name: "Fast", type: "boolean", currentValue: true }]);

/** Uses whatever the client offers, and what it does not offer as far as the library lets it. */
const everything: Prompted = async (turn) => {
  const { files, terminals } = turn.client;
  assert.equal(files?.canRead ?? false, turn.client.capabilities.readTextFile);
  if (files?.canRead) await files.readText("/project/a");
  if (files?.canWrite) await files.writeText("/project/a", "x");
  await (await terminals?.create({ command: "ls" }))?.release();
  const requestedSchema = { type: "object" as const, properties: {} };
  const form = turn.elicit({ mode: "form", message: "?", requestedSchema });
  await form.catch((error: { code: number }) => assert.equal(error.code, -32601));
  const url = turn.elicit({ mode: "url", message: "?", elicitationId: "e", url: "https://example.com" });
  await url.catch((error: { code: number }) => assert.equal(error.code, -32601));
  turn.notice("info", "hello");
  await turn.update({ sessionUpdate: "compaction_update", compactionId: "c", status: "in_progress" });
  await turn.update({ sessionUpdate: "compaction_update", compactionId: "c", status: "completed" });
  await turn.say("done");
};

test("A8 capabilities that are null, missing or no capabilities are missing", async () => {
  for (const clientCapabilities of [
    undefined,
    null,
    7,
    { fs: null, terminal: "yes", elicitation: { form: null } },
  ]) {
    const seen: unknown[] = [];
    const { call } = withScriptedClient({
      prompt: ({ client }) =>
        void seen.push(client.files, client.terminals, client.capabilities.elicitationForm),
    });
    await call("initialize", { protocolVersion: 1, clientCapabilities });
    const { sessionId } = (await call("session/new", where)) as { sessionId: string };
    await call("session/prompt", { sessionId, prompt: [text("x")] });
    assert.deepEqual(seen, [undefined, undefined, false]);
  }
});

test("A9 A110 N123 text and links are always taken; other blocks are -32602 unless the agent takes them", async () => {
  const link = { type: "resource_link", name: "n", uri: "file:///a" };
  const others = [
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///a", text: "x" } },
    { type: "hologram", shape: "cube" },
  ];
  for (const version of [1, 2]) {
    const turns: unknown[] = [];
    const talk = await withSession(version, { prompt: (turn) => void turns.push(turn.prompt) });
    const { call, peer, sessionId } = talk;
    await call("session/prompt", { sessionId, prompt: [text("x"), link] });
    await quiet();
    peer.got.length = 0;
    for (const block of others)
      await rejects(call("session/prompt", { sessionId, prompt: [text("x"), block] }), -32602);
    await quiet();
    assert.deepEqual(turns, [[text("x"), link]], "none of them ran");
    assert.deepEqual(updatesOf(peer), [], "A55 a refused prompt shows nothing");
    const promptCapabilities = { image: true, audio: true, embeddedContext: true };
    const rich = await withSession(version, { prompt, promptCapabilities });
    const all = others.slice(0, 3);
    await rich.call("session/prompt", { sessionId: rich.sessionId, prompt: all });
  }
});

test("A110 content is refused by what the agent declared, whatever its definition says later", async () => {
  for (const version of [1, 2]) {
    let image = true;
    const { call, sessionId } = await withSession(version, {
      prompt,
      get promptCapabilities() {
        return { image };
      },
    });
    image = false;
    const block = { type: "image", data: "aGk=", mimeType: "image/png" };
    await call("session/prompt", { sessionId, prompt: [block] });
  }
});

test("A111 N114 an optional method that is not there is -32601 and named", async () => {
  for (const version of [1, 2]) {
    const { call, sessionId } = await withSession(version, { prompt });
    const missing = [
      "session/fork",
      version === 1 ? "logout" : "session/load",
      version === 1 ? "auth/login" : "session/set_mode",
      "session/teleport",
    ];
    for (const method of missing)
      await rejects(call(method, { sessionId, ...where }), -32601, { method, reason: "method_not_found" });
  }
});

test("N093 initialize, session/new and more in one write all succeed", async () => {
  for (const version of [1, 2]) {
    const { call } = withScriptedClient({ prompt });
    const answers = [
      call("initialize", initialize(version)),
      call("session/new", where),
      call("session/list", {}),
      call("session/close", { sessionId: "nobody" }),
    ];
    assert.equal(((await Promise.all(answers)) as Json[])[0]?.["protocolVersion"], version);
  }
});

test("N111 a prompt without an id is not run, and nothing is answered", async () => {
  for (const version of [1, 2]) {
    let turns = 0;
    const { peer, call, sessionId } = await withSession(version, { prompt: () => void turns++ });
    peer.got.length = 0;
    peer.notify("session/prompt", { sessionId, prompt: [text("x")] });
    await quiet();
    assert.deepEqual([turns, peer.got], [0, []]);
    await call("session/prompt", { sessionId, prompt: [text("x")] });
    await quiet();
    assert.equal(turns, 1);
  }
});

test("N117 an unknown mode, model, option or value is -32602, and nothing changes", async () => {
  const option = (configId: "mode" | "model") => ({
    configId,
    name: configId,
    category: configId,
    type: "select" as const,
    currentValue: "a",
    options: [
      { value: "a", name: "A" },
      { value: "b", name: "B" },
    ],
  });
  for (const version of [1, 2]) {
    let there: AgentSession | undefined;
    const { call, sessionId } = await withSession(version, {
      prompt,
      session: {
        open: (session: AgentSession) => {
          there = session;
          session.setConfigOptions([option("mode"), option("model")]);
        },
      },
    });
    const set = (configId: string, value: unknown, type = "id") =>
      call("session/set_config_option", { sessionId, configId, type, value });
    await rejects(set("nothing", "a"), -32602);
    await rejects(set("mode", "c"), -32602);
    await rejects(set("mode", true, "boolean"), -32602);
    if (version === 1) {
      await rejects(call("session/set_mode", { sessionId, modeId: "c" }), -32602, { path: "/modeId" });
      await rejects(call("session/set_model", { sessionId, modelId: "c" }), -32602, { path: "/modelId" });
      await rejects(call("session/set_model", { sessionId }), -32602, { path: "/modelId" });
    }
    assert.deepEqual([there?.configOption("mode"), there?.configOption("model")], ["a", "a"]);
  }
});

test("A82 a version 1 client gets modes and legacy models beside the options, in step", async () => {
  const select = (category: "mode" | "model") => ({
    configId: `the-${category}`,
    name: category,
    category,
    type: "select" as const,
    currentValue: "a",
    options: [
      { value: "a", name: "A" },
      { value: "b", name: "B", description: "the other" },
    ],
  });
  let there: AgentSession | undefined;
  const chosen: unknown[] = [];
  const talk = await started(1, {
    prompt,
    session: {
      open: (session: AgentSession) => {
        there = session;
        session.setConfigOptions([select("mode"), select("model")]);
      },
      setConfigOption: (_session: AgentSession, id: string, value: string) => void chosen.push([id, value]),
    },
  });
  const opened = (await talk.call("session/new", where)) as Json;
  const named = [
    { id: "a", name: "A" },
    { id: "b", name: "B", description: "the other" },
  ];
  assert.deepEqual(opened["modes"], { currentModeId: "a", availableModes: named });
  assert.deepEqual(opened["models"], {
    currentModelId: "a",
    availableModels: named.map(({ id: modelId, ...rest }) => ({ modelId, ...rest })),
  });
  const sessionId = opened["sessionId"] as string;
  const modeOf = (option: unknown) => (option as { currentValue: string }).currentValue;
  assert.deepEqual(await talk.call("session/set_mode", { sessionId, modeId: "b" }), {});
  assert.deepEqual(await talk.call("session/set_model", { sessionId, modelId: "b" }), {});
  assert.deepEqual(chosen, [
    ["the-mode", "b"],
    ["the-model", "b"],
  ]);
  await quiet();
  const modes = updatesOf(talk.peer).flatMap((update) =>
    update["sessionUpdate"] === "current_mode_update" ? [update["currentModeId"]] : [],
  );
  assert.deepEqual(modes, ["b"]);
  const last = updatesOf(talk.peer).findLast((each) => each["sessionUpdate"] === "config_option_update");
  assert.deepEqual((last as { configOptions: unknown[] }).configOptions.map(modeOf), ["b", "b"]);
  // the other way round: the agent changes its mode
  there?.setConfigOptions([select("mode"), select("model")]);
  await quiet();
  assert.equal(updatesOf(talk.peer).at(-1)?.["currentModeId"], "a");
  const loaded = (await talk.call("session/load", { sessionId, ...where })) as Json;
  assert.equal((loaded["models"] as Json)["currentModelId"], "a");
  const { call } = await started(2, { prompt });
  await rejects(call("session/set_model", { sessionId: "x", modelId: "b" }), -32601);
});

test("A36 A40 closing or deleting what is not there succeeds, and what was deleted is no longer listed", async () => {
  for (const version of [1, 2]) {
    const { call, sessionId } = await withSession(version, { prompt });
    assert.deepEqual(await call("session/close", { sessionId: "nobody" }), {});
    assert.deepEqual(await call("session/delete", { sessionId: "nobody" }), {});
    const listed = async () => ((await call("session/list", {})) as { sessions: unknown[] }).sessions.length;
    assert.equal(await listed(), 1);
    assert.deepEqual(await call("session/close", { sessionId }), {});
    assert.deepEqual(await call("session/close", { sessionId }), {});
    assert.equal(await listed(), 1, "a closed one can be loaded again");
    assert.deepEqual(await call("session/delete", { sessionId }), {});
    assert.equal(await listed(), 0);
  }
});

test("A23 A42 A44 each activation names its own roots and servers; none is left out, none comes back", async () => {
  for (const version of [1, 2]) {
    const seen: unknown[] = [];
    const server = {
      ...(version === 2 ? { type: "stdio" } : {}),
      name: "s",
      command: "/bin/x",
      args: [],
      env: [],
    };
    const { call } = await started(version, {
      prompt,
      session: {
        open: (session: AgentSession, { origin }: OpenRequest) =>
          void seen.push([origin, session.roots, session.mcpServers.length]),
      },
    });
    const roots = { additionalDirectories: ["/b", "/a", "/b/c"] };
    const opened = await call("session/new", { cwd: "/project", mcpServers: [server], ...roots });
    const { sessionId } = opened as { sessionId: string };
    await call("session/close", { sessionId });
    await call("session/resume", { sessionId, ...where });
    await call("session/close", { sessionId });
    await call("session/resume", { sessionId, ...where, additionalDirectories: ["/other"] });
    assert.deepEqual(seen, [
      ["new", ["/project", "/b", "/a", "/b/c"], 1],
      ["resume", ["/project"], 0],
      ["resume", ["/project", "/other"], 0],
    ]);
    for (const bad of [["relative"], [""], ["/fine", "./not"]])
      await rejects(call("session/resume", { sessionId, ...where, additionalDirectories: bad }), -32602);
  }
});

inEveryVersion(
  "A23 A42 a session that is loaded again while it is open has the roots of the last time",
  async (pair) => {
    let there: AgentSession | undefined;
    const { agent: connected } = await conversation(pair, {
      prompt,
      session: {
        open: (session) => {
          there = session;
        },
      },
    });
    const session = await connected.newSession({ ...place, additionalDirectories: ["/b"] });
    await connected.loadSession(session.sessionId, place);
    assert.deepEqual(there?.roots, ["/project"]);
  },
);

test("A28 A31 A32 version 2 replays everything that was kept, with its ids and without notices, before it answers", async () => {
  const { call, peer, sessionId } = await withSession(2, {
    async prompt(turn) {
      turn.think("hm");
      await turn.say("one");
      turn.notice("info", "not history");
      await turn.tool({ title: "T", toolCallId: "t" }, (tool) => tool.add("seen"));
      turn.plan([{ content: "do", priority: "low", status: "pending" }]);
      turn.usage({ used: 1, size: 2 });
    },
  });
  await call("session/prompt", { sessionId, prompt: [text("x")] });
  await quiet();
  const live = updatesOf(peer).filter(
    ({ sessionUpdate }) => sessionUpdate !== "state_update" && sessionUpdate !== "notice",
  );
  await call("session/close", { sessionId });
  peer.got.length = 0;
  await call("session/resume", { sessionId, cwd: "/project", replayFrom: { type: "start" } });
  const replayed = updatesOf(peer);
  // what was said in pieces is a whole message now
  const whole = live.map((update) => {
    const { sessionUpdate, content } = update as { sessionUpdate: string; content?: unknown };
    const isPiece = sessionUpdate.startsWith("agent_");
    return isPiece ? { ...update, sessionUpdate: sessionUpdate.slice(0, -6), content: [content] } : update;
  });
  assert.deepEqual(replayed.slice(0, -1), whole);
  assert.equal(replayed.at(-1)?.["sessionUpdate"], "state_update");
  for (const update of replayed) {
    const isMessage = /message|thought/.test(String(update["sessionUpdate"]));
    assert.equal(isMessage, "messageId" in update, JSON.stringify(update));
  }
});

test("A35 closing answers prompts that were not inserted with -32800, and the inserted one has succeeded", async () => {
  const { call, peer, sessionId } = await withSession(2, { prompt: (turn) => aborted(turn.signal) });
  const send = () => call("session/prompt", { sessionId, prompt: [text("x")] });
  const [one, two, three] = [send(), send(), send()];
  const { messageId } = (await one) as { messageId: string };
  assert.ok(messageId);
  const refused = Promise.all([rejects(two, -32800), rejects(three, -32800)]);
  await call("session/close", { sessionId });
  await refused;
  const last = updatesOf(peer).at(-1) as Json;
  assert.deepEqual([last["state"], last["stopReason"]], ["idle", "cancelled"]);
  const echoed = updatesOf(peer).filter(({ sessionUpdate }) => sessionUpdate === "user_message");
  assert.deepEqual(
    echoed.map((update) => update["messageId"]),
    [messageId],
  );
});

test("N116 the history of a session that is loaded twice at once is sent once, before both answers", async () => {
  for (const version of [1, 2] as const) {
    const store = memoryStore();
    const first = await openSession({ editions: [`v${version}`], version }, { session: { store }, prompt });
    await first.session.prompt("hello").result;
    await first.session.close();
    let opened = 0;
    const { call, peer } = await started(version, { prompt, session: { store, open: () => void opened++ } });
    const { sessionId } = first.session;
    const replayFrom = { type: "start" };
    const load = (cwd = "/project") =>
      version === 1
        ? call("session/load", { sessionId, cwd, mcpServers: [] })
        : call("session/resume", { sessionId, cwd, mcpServers: [], replayFrom });
    const words = () =>
      updatesOf(peer).flatMap(({ content }) =>
        [content].flat().flatMap((block) => (block as Json)?.["text"] ?? []),
      );
    const once = ["hello", "you said hello"];
    await Promise.all([load(), load()]);
    assert.deepEqual([words(), opened], [once, 1]);
    await load();
    assert.deepEqual(words(), [...once, ...once], "one after the other are two");
    peer.got.length = 0;
    await Promise.all([load(), call("session/close", { sessionId }), load()]);
    assert.deepEqual(words(), [...once, ...once], "after a close it is loaded anew");
    await call("session/close", { sessionId });
    peer.got.length = 0;
    await Promise.all([rejects(load("/elsewhere"), -32602), load()]);
    assert.deepEqual(words(), once, "one that was refused has sent none");
  }
});

test("A118 a system prompt that the agent cannot take is -32602, and none is known where it was not listed", async () => {
  for (const version of [1, 2]) {
    const got: unknown[] = [];
    const open = (session: AgentSession) => void got.push(session.systemPrompt);
    const { call } = await started(version, { prompt, unstable: ["system_prompt"], session: { open } });
    const with_ = (systemPrompt: unknown) => call("session/new", { ...where, systemPrompt });
    const content = [text("be brief")];
    await with_({ mode: "override", content });
    await with_({ mode: "append", content });
    await with_(null);
    assert.deepEqual(got, [{ mode: "override", content }, { mode: "append", content }, undefined]);
    await rejects(with_({ mode: "shout", content }), -32602);
    await rejects(with_({ mode: "append", content: [{ type: "image", data: "", mimeType: "x" }] }), -32602);
    const { sessionId } = (await with_(null)) as { sessionId: string };
    for (const systemPrompt of [7, {}, { mode: "append", content: 7 }, { mode: "append", content: [null] }])
      await rejects(call("session/resume", { sessionId, ...where, systemPrompt }), -32602);
    const stable = await started(version, { prompt, session: { open } });
    await stable.call("session/new", { ...where, systemPrompt: { mode: "override", content } });
    assert.equal(got.at(-1), undefined);
  }
});

test("N104 N105 N106 a prompt to a session that is unknown, closed or deleted is -32002 with its id", async () => {
  for (const version of [1, 2]) {
    let turns = 0;
    const { call, sessionId } = await withSession(version, { prompt: () => void turns++ });
    const send = (id: string) => call("session/prompt", { sessionId: id, prompt: [text("x")] });
    await rejects(send("nobody"), -32002, { sessionId: "nobody", reason: "session_not_found" });
    await call("session/close", { sessionId });
    await rejects(send(sessionId), -32002, { sessionId });
    await call("session/resume", { sessionId, ...where });
    await call("session/delete", { sessionId });
    await rejects(send(sessionId), -32002, { sessionId });
    assert.equal(turns, 0);
  }
});

test("N107 a second prompt while a turn runs waits, or is -32064 where the agent takes one at a time", async () => {
  for (const version of [1, 2]) {
    for (const concurrentPrompts of ["queue", "reject"]) {
      const gate = Promise.withResolvers<void>();
      const order: string[] = [];
      const { call, sessionId } = await withSession(version, {
        concurrentPrompts,
        async prompt(turn) {
          order.push(turn.text);
          await gate.promise;
        },
      });
      const send = (words: string) => call("session/prompt", { sessionId, prompt: [text(words)] });
      const first = send("1");
      await quiet();
      const second = send("2");
      if (concurrentPrompts === "reject") await rejects(second, -32064, { reason: "turn_in_progress" });
      await quiet();
      assert.deepEqual(order, ["1"]);
      gate.resolve();
      await first;
      if (concurrentPrompts === "queue") await second;
      await quiet();
      assert.deepEqual(order, concurrentPrompts === "queue" ? ["1", "2"] : ["1"]);
    }
  }
});
