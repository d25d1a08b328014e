import assert from "node:assert/strict";
import { test } from "node:test";
import { client, type SessionUpdate } from "@parley/acp";
import { memoryStore, serializeEntry } from "@parley/acp/store";
import { memoryPair } from "@parley/acp/transport";
import { scoped } from "@parley/dialects";
import {
  type Answer,
  calls,
  connected,
  inEveryVersion,
  said,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
  written,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead, stubWrite } from "../../test/support/stub-tools.ts";
import { codingAgent } from "../coding-agent.ts";
import type { ModelMessage } from "../model/model.ts";

const tools = [stubRead, stubWrite];

/** Without the ids of calls, which are the client's after a load. */
function plain(messages: readonly ModelMessage[] | undefined): unknown {
  return (messages ?? []).map((message) => {
    if (message.role === "tool")
      return message.outcomes.map(({ name, content, isError }) => ({ name, content, isError }));
    return message.content.map((part) => (part.type === "tool_call" ? { ...part, id: "" } : part));
  });
}

inEveryVersion(
  "a session that is loaded by another process tells the model what was said before",
  { "a.txt": "one\n" },
  async (setup) => {
    const store = memoryStore();
    const script: Answer[] = [
      [
        { type: "text", text: "I look." },
        ...calls(["read", { path: "a.txt" }], ["write", { path: "b", content: "x" }]),
      ],
      written(["read", { path: "absent" }], ["read", { path: "a.txt" }]),
      written(["read", {}]),
      says("It says one."),
    ];
    const first = scriptedModel([...script, says("Once more.")]);
    const before = await talk({ ...setup, tools, models: [first], store, answers: ["reject_once"] });
    await before.session.prompt("read a.txt").result;
    await before.session.prompt("/help").result;
    await before.session.prompt("and now?").result;
    await before.end();

    const second = scriptedModel([says("Welcome back.")]);
    const again = await connected({ ...setup, tools, models: [second], store });
    const session = await again.agent.loadSession(before.session.sessionId, { cwd: setup.cwd });
    await session.prompt("still there?").result;
    const told = second.requests[0]?.messages ?? [];
    const expected = [
      ...(first.requests.at(-1)?.messages ?? []),
      { role: "assistant" as const, content: [{ type: "text" as const, text: "Once more." }] },
      { role: "user" as const, content: [{ type: "text" as const, text: "still there?" }] },
    ];
    assert.deepEqual(plain(told), plain(expected));
  },
);

inEveryVersion("a session whose first turn was killed is named after its first prompt", {}, async (setup) => {
  const store = memoryStore();
  const { cwd } = setup;
  const now = Date.now();
  const record = { sessionId: "killed", cwd, additionalDirectories: [], createdAt: now, updatedAt: now };
  const claim = await store.create({ ...record, config: {} });
  const prompt = [{ type: "text", text: "mend the **door**" }] as const;
  const entry = { format: 1, seq: 1, time: now, kind: "prompt", messageId: "m1", prompt } as const;
  await store.append(claim, 0, [serializeEntry(entry)]);
  await store.release(claim);
  const { agent } = await connected({ ...setup, tools, models: [scriptedModel([says("Done.")])], store });
  const titles: unknown[] = [];
  const onUpdate = (update: SessionUpdate) => {
    if (update.sessionUpdate === "session_info_update") titles.push(update.title);
  };
  const session = await agent.loadSession("killed", { cwd, onUpdate });
  await session.prompt("go on").result;
  assert.deepEqual(titles, ["mend the door"]);
});

inEveryVersion("options are restored when a session is loaded", {}, async (setup) => {
  const store = memoryStore();
  const first = await talk({ ...setup, tools, models: [scriptedModel([])], store });
  await first.session.setMode("chat");
  await first.session.setConfigOption("effort", "high");
  await first.end();
  const model = scriptedModel([says("ok")]);
  const again = await connected({ ...setup, tools, models: [model], store });
  const session = await again.agent.loadSession(first.session.sessionId, { cwd: setup.cwd });
  await session.prompt("hi").result;
  assert.equal(model.requests[0]?.effort, "high");
  assert.match(JSON.stringify(model.sent[0]?.messages.at(-1)), /Mode chat/);
  const names = session.availableCommands.map(({ name }) => name);
  assert.equal(names.includes("test"), false, "commands follow from the mode");
});

test("a forked session continues independently", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, {});
  const model = scriptedModel([says("one"), says("two"), says("three")]);
  const definition = { clientDefinition: { unstable: ["fork"] as const } };
  const { session, agent } = await talk({ version: 2, cwd, tools, models: [model], ...definition });
  await session.prompt("first").result;
  const fork = await agent.forkSession(session.sessionId, { cwd });
  await fork.prompt("second").result;
  await session.prompt("third").result;
  assert.equal(model.requests[1]?.messages.length, 3);
  assert.doesNotMatch(JSON.stringify(model.requests[2]?.messages), /second/);
});

test("a message that comes while the agent works is taken up before its next step", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, {});
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const gate = customTool("gate", async () => {
    reached.resolve();
    await goOn.promise;
    return "open";
  });
  const model = scriptedModel([calls(["gate", {}]), says("I heard you.")]);
  const { session, updates } = await talk({ version: 2, cwd, tools: [gate], models: [model] });
  const first = session.prompt("go");
  await reached.promise;
  const second = session.prompt("but in blue");
  goOn.resolve();
  assert.equal((await first.result).stopReason, "end_turn");
  assert.equal((await second.result).joined, true);
  const { messages = [] } = model.requests[1] ?? {};
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "tool", "user"],
  );
  assert.deepEqual(messages.at(-1), { role: "user", content: [{ type: "text", text: "but in blue" }] });
  assert.equal(said(updates), "I heard you.");
});

test("a message that comes while the model gives its last answer is not lost", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, {});
  const speaking = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const model = scriptedModel([
    async function* () {
      yield { type: "text", text: "Done. " };
      speaking.resolve();
      await goOn.promise;
      yield { type: "end", cause: "stop", usage: undefined };
    },
    says("And blue."),
  ]);
  const { session, updates } = await talk({ version: 2, cwd, tools, models: [model] });
  const first = session.prompt("go");
  await speaking.promise;
  const second = session.prompt("but in blue");
  goOn.resolve();
  await Promise.all([first.result, second.result]);
  assert.equal(said(updates), "Done. And blue.");
});

test("A104 commands while the agent works are answered, and the work goes on", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, {});
  const store = memoryStore();
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const gate = customTool("gate", async () => {
    reached.resolve();
    await goOn.promise;
    return "open";
  });
  const model = scriptedModel([calls(["gate", {}]), says("Done.")]);
  const made = await talk({ version: 2, cwd, tools: [gate], models: [model], store });
  const { session, updates } = made;
  const first = session.prompt("go");
  await reached.promise;
  const second = session.prompt("/permissions");
  const third = session.prompt([
    { type: "text", text: "look" },
    { type: "resource", resource: { uri: "file:///a.png", mimeType: "image/png", blob: "AAAA" } },
  ]);
  goOn.resolve();
  await Promise.all([first.result, second.result, third.result]);
  assert.match(said(updates), /No answers are remembered.*Done\./);
  assert.equal(model.requests.length, 2);
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /look.*Scripted does not accept images/);
  assert.ok(updates.some((u) => u.sessionUpdate === "notice" && /does not accept images/.test(u.title)));
  await made.end();

  const later = scriptedModel([says("ok")]);
  const again = await connected({ version: 2, cwd, tools: [gate], models: [later], store });
  const loaded = await again.agent.loadSession(session.sessionId, { cwd });
  await loaded.prompt("and?").result;
  assert.match(JSON.stringify(later.requests[0]?.messages), /"go".*gate.*look.*Done.*and\?/);
});

inEveryVersion("two sessions of one agent know nothing of one another", {}, async (setup) => {
  const model = scriptedModel([says("one"), says("two")]);
  const { session, agent } = await talk({ ...setup, tools, models: [model] });
  await session.prompt("my secret is 42").result;
  const updates: SessionUpdate[] = [];
  const other = await agent.newSession({ cwd: setup.cwd, onUpdate: (update) => void updates.push(update) });
  await other.prompt("hello").result;
  assert.equal(model.requests[1]?.messages.length, 1);
  assert.equal(said(updates), "two");
});

inEveryVersion("the agent takes a message while it works, on every version", {}, async (setup) => {
  const speaking = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const model = scriptedModel([
    async function* () {
      yield { type: "text", text: "Done. " };
      speaking.resolve();
      await goOn.promise;
      yield { type: "end", cause: "stop", usage: undefined };
    },
    says("And blue."),
  ]);
  const { session, updates } = await talk({ ...setup, tools, models: [model] });
  const first = session.prompt("go");
  await speaking.promise;
  const second = session.steer("but in blue");
  goOn.resolve();
  assert.equal((await first).stopReason, "end_turn");
  assert.equal((await second).joined, true);
  assert.equal(said(updates), "Done. And blue.");
});

inEveryVersion("A115 A116 A117 sessions can be archived and named by the user", {}, async (setup) => {
  const unstable = ["archive", "session_title", "session_status", "auth_status"] as const;
  const model = scriptedModel([says("one"), says("two")]);
  const { session, agent } = await talk({ ...setup, tools, models: [model], clientDefinition: { unstable } });
  assert.equal((await agent.authStatus()).state, "not_required");
  assert.equal((await session.setTitle("Mine")).title, "Mine");
  await session.prompt("a long question").result;
  assert.equal((await agent.sessionStatus(session.sessionId)).status, "open");
  await agent.archiveSession(session.sessionId);
  assert.deepEqual((await agent.listSessions()).sessions, []);
  const [listed] = (await agent.listSessions({ archived: "only" })).sessions;
  assert.equal(listed?.title, "Mine", "the agent's own title does not replace it");
});

test("a client that speaks a dialect is told the modes and options before it has a session", async (t) => {
  const [near, far] = memoryPair();
  for (const end of [near, far]) Object.assign(end, { dialect: scoped() });
  const served = codingAgent({ version: "1", models: [scriptedModel([])], tools });
  t.after(() => served.close());
  served.connect(far);
  const { _meta } = await client({ name: "c", version: "1", editions: ["v1"] }).connect(near);
  const options = _meta?.["_parley.dev/sessionOptions"] as { id: string; options: { value: string }[] }[];
  assert.deepEqual(
    options.map(({ id }) => id),
    ["mode", "model", "effort", "autoApprove", "maxTokens"],
  );
  assert.deepEqual(
    options[0]?.options.map(({ value }) => value),
    ["ask", "code", "architect", "chat"],
  );
});
