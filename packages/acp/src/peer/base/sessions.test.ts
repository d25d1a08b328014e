import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  inEveryVersion,
  initialize,
  openSession,
  place,
  quiet,
  rejects,
  said,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import type { AgentSession, SessionConfigOption, SessionUpdate } from "../../index.ts";
import { memoryStore } from "../../store.ts";

const echo = (turn: { text: string; say(text: string): unknown }) => void turn.say(`you said ${turn.text}`);

/** The messages of a session, as "kind text", joined per message. */
function transcript(updates: readonly SessionUpdate[]): string[] {
  const lines: { key: string; line: string }[] = [];
  for (const update of updates) {
    const { sessionUpdate } = update;
    if (sessionUpdate === "agent_message_chunk" || sessionUpdate === "user_message_chunk") {
      if (update.content.type !== "text") continue;
      const key = `${sessionUpdate} ${update.messageId}`;
      const open = lines.find((each) => each.key === key);
      if (open === undefined)
        lines.push({ key, line: `${sessionUpdate.split("_")[0]}: ${update.content.text}` });
      else open.line += update.content.text;
    }
    if (sessionUpdate === "user_message" || sessionUpdate === "agent_message") {
      const words = (update.content ?? [])
        .map((block) => (block.type === "text" ? block.text : "?"))
        .join("");
      const key = `${sessionUpdate}_chunk ${update.messageId}`;
      const line = `${sessionUpdate.split("_")[0]}: ${words}`;
      const known = lines.find((each) => each.key === key);
      if (known === undefined) lines.push({ key, line });
      else known.line = line;
    }
  }
  return lines.map(({ line }) => line);
}

inEveryVersion("A16 every session has an id of its own, and its place", async (pair) => {
  const places: unknown[] = [];
  const { agent } = await conversation(pair, {
    prompt: echo,
    session: {
      open: (session, { origin, _meta }) => {
        places.push([origin, session.cwd, session.roots, _meta]);
      },
    },
  });
  const ids = await Promise.all([1, 2, 3].map(async () => (await agent.newSession(place)).sessionId));
  assert.equal(new Set(ids).size, 3);
  await agent.newSession({ cwd: "/a", additionalDirectories: ["/b", "/a", "/b", "/c"] });
  assert.deepEqual(places.at(-1), ["new", "/a", ["/a", "/b", "/c"], undefined]);
});

inEveryVersion("X11 A41 a directory that is not absolute is -32602, and no session is made", async (pair) => {
  const { call } = withScriptedClient({ prompt: echo });
  await call("initialize", initialize(pair.version));
  for (const params of [
    { cwd: "work" },
    { cwd: "" },
    { cwd: "/a", additionalDirectories: ["b"] },
    { cwd: "/a", additionalDirectories: [""] },
  ])
    await rejects(call("session/new", { mcpServers: [], ...params }), -32602);
  assert.deepEqual(((await call("session/list", {})) as { sessions: unknown[] }).sessions, [], "A38");
});

inEveryVersion(
  "A22 an MCP server of a kind that the agent does not use is -32602; C9 our client does not ask",
  async (pair) => {
    const { call } = withScriptedClient({ prompt: echo });
    await call("initialize", initialize(pair.version));
    const http = { type: "http" as const, name: "h", url: "https://example.com", headers: [] };
    await rejects(call("session/new", { cwd: "/a", mcpServers: [http] }), -32602);
    const { agent } = await conversation(pair, {
      prompt: echo,
      mcpCapabilities: { http: true },
      session: { open: (session) => void assert.equal(session.mcpServers.length, 2) },
    });
    await agent.newSession({
      cwd: "/a",
      mcpServers: [http, { type: "stdio", name: "s", command: "/bin/x", args: [], env: [] }],
    });
    const { agent: without } = await conversation(pair, { prompt: echo });
    await assert.rejects(without.newSession({ cwd: "/a", mcpServers: [http] }), TypeError);
  },
);

inEveryVersion(
  "A24 A25 A31 load replays everything before it answers, with the ids that messages had",
  async (pair) => {
    const store = memoryStore();
    const first = await openSession(pair, {
      session: { store },
      async prompt(turn) {
        turn.say("one, ");
        turn.say("two");
        await turn.tool({ title: "Look", kind: "read" }, (tool) => tool.add("seen"));
        turn.notice("info", "not history");
        turn.say("done");
      },
    });
    await first.session.prompt("hello").result;
    const { sessionId } = first.session;
    await first.agent.close();
    await first.served.closed;

    const origins: string[] = [];
    const { agent } = await conversation(pair, {
      session: { store, open: (_session, { origin }) => void origins.push(origin) },
      prompt: echo,
    });
    const session = await agent.loadSession(sessionId, place);
    const replayed: SessionUpdate[] = [];
    session.onUpdate((update) => void replayed.push(update));
    await session.prompt("again").result;
    assert.deepEqual(transcript(replayed), [
      "user: hello",
      "agent: one, two",
      "agent: done",
      "user: again",
      "agent: you said again",
    ]);
    assert.deepEqual(origins, ["load"]);
    assert.ok(!replayed.some(({ sessionUpdate }) => sessionUpdate === "notice"), "A32");
    const ids = (updates: SessionUpdate[]) =>
      updates.flatMap((u) =>
        /^agent_message/.test(u.sessionUpdate) && "messageId" in u ? [u.messageId] : [],
      );
    assert.deepEqual(new Set(ids(replayed).slice(0, -1)), new Set(ids(first.updates)));
  },
);

inEveryVersion(
  "a session that is loaded again while it is open shows the same, also in the middle of a turn",
  async (pair) => {
    const gate = Promise.withResolvers<void>();
    const { agent, session, updates } = await openSession(pair, {
      async prompt(turn) {
        turn.say("a");
        await turn.tool({ title: "T" }, () => undefined);
        turn.say("b");
        await gate.promise;
        turn.say("c");
      },
    });
    const prompt = session.prompt("go");
    for await (const update of prompt) if (said([update]) === "b") break;
    for (let i = 0; i < 2; i++) {
      updates.length = 0;
      const again = await agent.loadSession(session.sessionId, place);
      assert.equal(again, session);
      assert.deepEqual(transcript(updates), ["user: go", "agent: a", "agent: b"], `load ${i + 1}`);
    }
    gate.resolve();
    assert.equal((await prompt.result).stopReason, "end_turn");
    assert.deepEqual(transcript(updates), ["user: go", "agent: a", "agent: bc"]);
  },
);

inEveryVersion("A26 A27 resume replays nothing", async (pair) => {
  const store = memoryStore();
  const first = await openSession(pair, { session: { store }, prompt: echo });
  await first.session.prompt("hello").result;
  await first.session.close();
  const { agent } = await conversation(pair, { session: { store }, prompt: echo });
  const session = await agent.resumeSession(first.session.sessionId, place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => void updates.push(update));
  assert.deepEqual(transcript(updates), []);
  await session.prompt("next").result;
  assert.deepEqual(transcript(updates), ["user: next", "agent: you said next"]);
});

test("A29 version 2 refuses to replay from a place that it does not know", async () => {
  const { call } = withScriptedClient({ prompt: echo });
  await call("initialize", initialize(2));
  const { sessionId } = (await call("session/new", { cwd: "/project" })) as { sessionId: string };
  await rejects(
    call("session/resume", { sessionId, cwd: "/project", replayFrom: { type: "message", messageId: "x" } }),
    -32602,
  );
});

test("A30 version 2 says the state after the replay and before the answer", async () => {
  const { call, peer } = withScriptedClient({ prompt: echo });
  await call("initialize", initialize(2));
  const { sessionId } = (await call("session/new", { cwd: "/project" })) as { sessionId: string };
  await call("session/prompt", { sessionId, prompt: [text("x")] });
  await quiet();
  for (const replayFrom of [undefined, { type: "start" }]) {
    peer.got.length = 0;
    await call("session/resume", { sessionId, cwd: "/project", replayFrom });
    const updates = peer.got.map(({ params }) => params.update as SessionUpdate);
    assert.equal(updates.at(-1)?.sessionUpdate, "state_update");
    assert.equal(transcript(updates).length, replayFrom === undefined ? 0 : 2);
  }
});

inEveryVersion(
  "N104 N105 N106 N115 what is unknown, closed, deleted or elsewhere is refused by name",
  async (pair) => {
    const store = memoryStore();
    const { session, agent } = await openSession(pair, { session: { store }, prompt: echo });
    const { sessionId } = session;
    await rejects(agent.loadSession("nobody", place), -32002, { sessionId: "nobody" });
    await assert.rejects(
      agent.loadSession("nobody", place),
      /^\w*Error: there is no session "nobody": open a new one/,
    );
    await assert.rejects(
      agent.loadSession(sessionId, { cwd: "/elsewhere" }),
      /working directory: "\/project"$/,
    );
    await rejects(agent.resumeSession("nobody", place), -32002);
    await rejects(agent.loadSession(sessionId, { cwd: "/elsewhere" }), -32602, { path: "/cwd" });
    // the one that is open has not suffered
    assert.equal((await session.prompt("x").result).stopReason, "end_turn");
    await session.close();
    assert.throws(() => session.prompt("x"), { name: "ConnectionError", kind: "closed" });
    await session.close();
    await agent.deleteSession(sessionId);
    await agent.deleteSession(sessionId);
    await rejects(agent.loadSession(sessionId, place), -32002);
    assert.deepEqual((await agent.listSessions()).sessions, []);
  },
);

test("N105 a prompt for a session that was closed is refused by name", async () => {
  for (const version of [1, 2] as const) {
    const { call } = withScriptedClient({ prompt: echo });
    await call("initialize", initialize(version));
    const opened = await call("session/new", { cwd: "/project", mcpServers: [] });
    const { sessionId } = opened as { sessionId: string };
    await call("session/close", { sessionId });
    await rejects(call("session/prompt", { sessionId, prompt: [text("x")] }), -32002, { sessionId });
  }
});

inEveryVersion("a session that is open on one connection is not opened on another", async (pair) => {
  const store = memoryStore();
  const first = await openSession(pair, { session: { store }, prompt: echo });
  // the same agent serves both
  const { agent, client } = await import("../../index.ts");
  const { memoryPair } = await import("../../transport.ts");
  const shared = agent({ name: "a", version: "1", editions: pair.editions, prompt: echo });
  const connect = async () => {
    const [left, right] = memoryPair();
    shared.connect(left);
    return client({ name: "c", version: "1" }).connect(right);
  };
  const [one, two] = [await connect(), await connect()];
  const session = await one.newSession(place);
  await rejects(two.loadSession(session.sessionId, place), -32066);
  await session.close();
  await two.loadSession(session.sessionId, place);
  await first.agent.close();
});

inEveryVersion(
  "N116 two loads at once give one session, and a view of it shows its history once",
  async (pair) => {
    const store = memoryStore();
    const first = await openSession(pair, { session: { store }, prompt: echo });
    await first.session.prompt("hello").result;
    await first.session.close();
    let opened = 0;
    const { agent } = await conversation(pair, {
      session: { store, open: () => void opened++ },
      prompt: echo,
    });
    const { sessionId } = first.session;
    const updates: SessionUpdate[] = [];
    const watching = { ...place, onUpdate: (update: SessionUpdate) => void updates.push(update) };
    const [a, b] = await Promise.all([
      agent.loadSession(sessionId, watching),
      agent.loadSession(sessionId, place),
    ]);
    assert.equal(a, b);
    assert.equal(opened, 1);
    assert.equal(said(updates), said(first.updates));
    assert.equal((await a.prompt("more").result).stopReason, "end_turn");
  },
);

inEveryVersion("A38 A39 N118 C20 lists go page by page, by directory, newest first", async (pair) => {
  const { agent } = await conversation(pair, { prompt: echo });
  assert.deepEqual(await agent.listSessions(), { sessions: [] });
  for (let i = 0; i < 60; i++) await agent.newSession({ cwd: i < 5 ? "/few" : "/many" });
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await agent.listSessions({ cwd: "/many", ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...page.sessions.map(({ sessionId }) => sessionId));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.equal(new Set(seen).size, 55);
  assert.equal((await agent.listSessions({ cwd: "/few" })).sessions.length, 5);
  await rejects(agent.listSessions({ cursor: "not ours" }), -32602);
});

inEveryVersion("a working directory is the same however it is written", async (pair) => {
  const seen: string[] = [];
  const { agent } = await conversation(pair, { prompt: (turn) => void seen.push(turn.session.cwd) });
  const opened = await agent.newSession({ cwd: "/ws/" });
  const { sessionId } = opened;
  await agent.resumeSession(sessionId, { cwd: "/ws/a/.." });
  await opened.close();
  for (const cwd of ["/ws", "/ws/", "/./ws"]) {
    const again = await agent.loadSession(sessionId, { cwd });
    assert.equal((await again.prompt("x").result).stopReason, "end_turn");
    assert.equal((await agent.listSessions({ cwd })).sessions.length, 1, cwd);
    await again.close();
  }
  await rejects(agent.loadSession(sessionId, { cwd: "/ws/a" }), -32602, { path: "/cwd" });
  assert.deepEqual(seen, ["/ws/", "/ws/", "/ws/"], "a session keeps its own spelling");
});

inEveryVersion("a session in which something happened is listed first", async (pair) => {
  const { agent } = await conversation(pair, { prompt: echo });
  const old = await agent.newSession(place);
  await agent.newSession(place);
  const before = (await agent.listSessions()).sessions[0]?.updatedAt ?? "";
  while (new Date().toISOString() <= before) await quiet();
  await old.prompt("x").result;
  await quiet();
  assert.equal((await agent.listSessions()).sessions[0]?.sessionId, old.sessionId);
});

inEveryVersion(
  "A33 A34 A37 closing ends the work, answers the prompts, and then there is silence",
  async (pair) => {
    let closed: AgentSession | undefined;
    let refused = 0;
    const { session, updates, wire } = await openSession(pair, {
      async prompt(turn) {
        await new Promise<void>((resolve) => turn.signal.addEventListener("abort", () => resolve()));
        const late = () =>
          turn.session.update({
            sessionUpdate: "agent_message_chunk",
            messageId: "x",
            content: text("too late"),
          });
        setImmediate(() => {
          assert.throws(late, /^Error: the session is closed: session\.update\(\) has no effect/);
          refused += 1;
        });
      },
      session: {
        close: (each) => {
          closed = each;
        },
      },
    });
    const [one, two] = [session.prompt("1"), session.prompt("2")];
    await one.accepted;
    await quiet();
    await session.close();
    assert.equal((await one.result).stopReason, "cancelled");
    assert.equal((await two.result).stopReason, "cancelled");
    assert.equal(closed?.sessionId, session.sessionId);
    const count = wire.length;
    await quiet();
    await quiet();
    assert.equal(wire.length, count);
    assert.deepEqual([said(updates), refused], ["", 1]);
  },
);

test("a prompt that an agent forgets when it closes the session ends as cancelled", async () => {
  for (const version of [1, 2] as const) {
    const { agent } = await withScriptedAgent(version, {
      "session/prompt": () => (version === 1 ? new Promise(() => undefined) : { messageId: "m" }),
      "session/close": () => ({}),
    });
    const session = await agent.newSession(place);
    const prompt = session.prompt("x");
    await prompt.accepted;
    await session.close();
    assert.equal((await prompt.result).stopReason, "cancelled");
    await agent.close();
  }
});

inEveryVersion("a fork goes on where the other is, and the two go their own ways", async (pair) => {
  const unstable = ["fork"] as const;
  const { session, agent } = await openSession(
    pair,
    {
      prompt: echo,
      unstable,
      session: { open: (each) => each.setConfigOptions([select("mode", "a", ["a", "b"])]) },
    },
    { unstable },
  );
  await session.setConfigOption("mode", "b");
  await session.prompt("hello").result;
  const fork = await agent.forkSession(session.sessionId, { cwd: "/project" });
  assert.notEqual(fork.sessionId, session.sessionId);
  assert.equal((fork.configOptions[0] as { currentValue: string }).currentValue, "b");
  await fork.prompt("more").result;
  await fork.close();
  const replayed: SessionUpdate[] = [];
  const again = await agent.loadSession(fork.sessionId, place);
  again.onUpdate((update) => void replayed.push(update));
  assert.deepEqual(transcript(replayed), [
    "user: hello",
    "agent: you said hello",
    "user: more",
    "agent: you said more",
  ]);
  await rejects(agent.forkSession("nobody", place), -32002);
  const { agent: stable } = await openSession(pair, { prompt: echo });
  await assert.rejects(stable.forkSession("x", place), TypeError);
});

inEveryVersion("A118 C65 a system prompt reaches the agent where both listed it", async (pair) => {
  const unstable = ["system_prompt"] as const;
  const got: unknown[] = [];
  const { agent } = await conversation(
    pair,
    { prompt: echo, unstable, session: { open: (session) => void got.push(session.systemPrompt) } },
    { unstable },
  );
  const systemPrompt = { mode: "append" as const, content: [text("be brief")] };
  await agent.newSession({ ...place, systemPrompt });
  assert.deepEqual(got, [systemPrompt]);
  const { agent: stable } = await conversation(pair, { prompt: echo });
  await assert.rejects(stable.newSession({ ...place, systemPrompt }), TypeError);
});

function select(
  configId: "mode" | "model",
  currentValue: string,
  values: readonly string[],
): SessionConfigOption {
  return {
    configId,
    name: configId,
    category: configId,
    type: "select",
    currentValue,
    options: values.map((value) => ({ value, name: value })),
  };
}

inEveryVersion(
  "options are shown, set, kept with the session, and refused by -32602 (A77-A80, N117)",
  async (pair) => {
    const store = memoryStore();
    const chosen: unknown[] = [];
    const options = [
      select("mode", "ask", ["ask", "code"]),
      select("model", "small", ["small", "big"]),
      { configId: "fast", name: "Fast", type: "boolean" as const, currentValue: false },
    ];
    const definition = {
      prompt: echo,
      session: {
        store,
        open: (session: AgentSession) => session.setConfigOptions(options),
        setConfigOption: (_session: AgentSession, id: string, value: unknown) =>
          void chosen.push([id, value]),
      },
    };
    const { session, updates, agent } = await openSession(pair, definition);
    assert.deepEqual(
      session.configOptions.map(({ configId }) => configId),
      ["mode", "model", "fast"],
    );
    await session.setMode("code");
    await session.setConfigOption("model", "big");
    await session.setConfigOption("fast", true);
    assert.deepEqual(chosen, [
      ["mode", "code"],
      ["model", "big"],
      ["fast", true],
    ]);
    const values = (each: { configOptions: readonly SessionConfigOption[] }) =>
      each.configOptions.map((option) => (option as { currentValue: unknown }).currentValue);
    assert.deepEqual(values(session), ["code", "big", true]);
    await rejects(session.setConfigOption("mode", "none"), -32602, { path: "/value" });
    await assert.rejects(
      session.setConfigOption("mode", "none"),
      /the option mode takes one of: .*; got "none"$/,
    );
    await assert.rejects(session.setConfigOption("nope", "x"), TypeError);
    assert.deepEqual(values(session), ["code", "big", true]);
    const last = updates.findLast(({ sessionUpdate }) => sessionUpdate === "config_option_update");
    assert.deepEqual(
      values({ configOptions: (last as { configOptions: readonly SessionConfigOption[] }).configOptions }),
      ["code", "big", true],
    );
    await session.close();
    await agent.close();
    const later = await conversation(pair, definition);
    assert.deepEqual(values(await later.agent.loadSession(session.sessionId, place)), ["code", "big", true]);
  },
);
