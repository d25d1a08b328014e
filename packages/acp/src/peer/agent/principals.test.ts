// The sessions of one principal are unknown to every other.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attachedClient } from "../../../test/support/attached-client.ts";
import { initialize, place, quiet, rejects } from "../../../test/support/peer-probe.ts";
import { agent } from "../../index.ts";
import { Connection } from "../../jsonrpc.ts";
import { memoryStore, type SessionRecord, type SessionStore } from "../../store.ts";
import { memoryPair } from "../../transport.ts";

const unstable = ["fork", "archive", "session_status", "session_title"] as const;

function agentWith(store: SessionStore, hooks: string[] = []) {
  return agent({
    name: "a",
    version: "1",
    unstable,
    session: {
      store,
      onDelete: (sessionId) => void hooks.push(`delete ${sessionId}`),
      onStatus: (sessionId) => void hooks.push(`status ${sessionId}`),
    },
    prompt: async (turn) => turn.say("x"),
  });
}

/** What a request is answered with: its result, or its error without the id in it. */
async function answerOf(raw: Connection, method: string, params: { sessionId: string }): Promise<unknown> {
  try {
    return await raw.request(method, params);
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data: object };
    return JSON.parse(JSON.stringify({ code, message, data }).replaceAll(params.sessionId, "ID"));
  }
}

const methods = [
  "session/load",
  "session/resume",
  "session/fork",
  "session/close",
  "session/archive",
  "session/unarchive",
  "session/status",
  "session/set_title",
  "session/prompt",
  "session/set_config_option",
  "session/delete",
];

for (const version of [1, 2])
  for (const where of ["open at its client", "of a client that is away", "stored"])
    test(`a session of another principal, ${where}, is answered like one that does not exist (v${version})`, async () => {
      const hooks: string[] = [];
      const store = memoryStore();
      const made = agentWith(store, hooks);
      const owner = await attachedClient(made, { principal: "one", unstable });
      const session = await owner.connection.newSession(place);
      await session.prompt("hello").result;
      if (where === "of a client that is away") owner.detach();
      if (where === "stored") await session.close();
      const before = await store.get(session.sessionId);
      const [near, far] = memoryPair();
      made.connect(far, { principal: "two" });
      const handlers = { request: () => undefined, notification: () => undefined };
      const raw = new Connection(near, { handlers });
      await raw.request("initialize", initialize(version));
      const more = {
        ...place,
        mcpServers: [],
        title: "T",
        configId: "c",
        value: "v",
        prompt: [{ type: "text", text: "x" }],
      };
      for (const method of methods)
        for (const takeover of [false, true]) {
          const params = { ...more, _meta: { "_parley.dev/takeover": takeover } };
          const known = await answerOf(raw, method, { ...params, sessionId: session.sessionId });
          const unknown = await answerOf(raw, method, { ...params, sessionId: "x".repeat(32) });
          assert.deepEqual(known, unknown, method);
        }
      void raw.notify("session/cancel", { sessionId: session.sessionId });
      const { sessions } = (await raw.request("session/list", {})) as { sessions: unknown[] };
      assert.deepEqual(sessions, []);
      await quiet();
      assert.deepEqual(await store.get(session.sessionId), before);
      assert.ok(hooks.every((hook) => !hook.includes(session.sessionId)));
      assert.deepEqual(owner.taken, []);
      owner.attach();
      assert.ok(await owner.load(session.sessionId), "it is its owner's as before");
      await made.close();
    });

test("a principal sees its own sessions, from page to page, and no client is told whose they are", async () => {
  const store = memoryStore();
  const made = agentWith(store);
  const [one, two, local] = [
    await attachedClient(made, { principal: "one" }),
    await attachedClient(made, { principal: "two" }),
    await attachedClient(made),
  ];
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await one.connection.newSession(place)).sessionId);
  const own = (await local.connection.newSession(place)).sessionId;
  // they fill the first pages; sessions of one millisecond would be listed in any order
  for (const id of [...ids, own]) await store.patch(id, { updatedAt: 1 });
  for (let n = 0; n < 110; n++) await two.connection.newSession(place);
  const page = await one.connection.listSessions();
  assert.deepEqual(page.sessions.map(({ sessionId }) => sessionId).toSorted(), ids.toSorted());
  assert.equal(page.nextCursor, undefined);
  assert.ok(!JSON.stringify(page).includes("principal"));
  assert.deepEqual(
    (await local.connection.listSessions()).sessions.map(({ sessionId }) => sessionId),
    [own],
  );
  await made.close();
});

test("two connections of one principal share its sessions, and a fork is its own too", async () => {
  const store = memoryStore();
  const made = agentWith(store);
  const one = await attachedClient(made, { principal: "p", unstable });
  const session = await one.connection.newSession(place);
  await session.prompt("hello").result;
  const other = await attachedClient(made, { principal: "p", unstable });
  await rejects(other.load(session.sessionId), -32066, { reason: "session_held" });
  const fork = await other.connection.forkSession(session.sessionId, place);
  assert.equal((await store.get(fork.sessionId))?.principal, "p");
  assert.equal((await other.connection.sessionStatus(session.sessionId)).status, "open");
  one.detach();
  assert.ok(await other.load(session.sessionId));
  await made.close();
});

test("a live session is its principal's also where the store forgets whose it is", async () => {
  const memory = memoryStore();
  const forgetful: SessionStore = {
    ...memory,
    create: ({ principal: _, ...record }: SessionRecord) => memory.create(record),
  };
  const made = agentWith(forgetful);
  const owner = await attachedClient(made, { principal: "one" });
  const { sessionId } = await owner.connection.newSession(place);
  const local = await attachedClient(made);
  await rejects(local.load(sessionId, { takeover: true }), -32002);
  assert.deepEqual((await local.connection.listSessions()).sessions, []);
  await made.close();
});

test("a handler sees who sent its prompt, and the history has the author of each message", async () => {
  for (const principal of ["one", undefined]) {
    const seen: unknown[] = [];
    const made = agent({
      name: "a",
      version: "1",
      concurrentPrompts: "inbox",
      session: { open: (session) => void seen.push(session.principal) },
      async prompt(turn) {
        seen.push(turn.author);
        // the second message comes while the question is open
        await turn.requestPermission("Go on?");
        seen.push(turn.inbox.take()?.prompt);
        await quiet();
        for await (const entry of turn.session.history())
          seen.push(["author" in entry ? [entry.kind, entry.author] : entry.kind]);
      },
    });
    const asked = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    const { connection } = await attachedClient(made, {
      ...(principal && { principal }),
      async requestPermission({ options }) {
        asked.resolve();
        await sent.promise;
        return options[0]?.optionId;
      },
    });
    const session = await connection.newSession(place);
    const first = session.prompt("hello");
    await asked.promise;
    const second = session.prompt("and more");
    await quiet();
    sent.resolve();
    await Promise.all([first.result, second.result]);
    await made.close();
    const author = principal && { principal, client: "c" };
    const said = (kind: string) => [author ? [kind, author] : kind];
    const more = [{ type: "text", text: "and more" }];
    assert.deepEqual(seen, [principal, author, more, said("prompt"), ["ask"], said("answer"), said("inbox")]);
  }
});

test("a principal must be a text that names somebody", async () => {
  const made = agentWith(memoryStore());
  for (const [principal, got] of [
    ["", "an empty text"],
    [1, "1"],
    [null, "null"],
  ] as const)
    assert.throws(() => made.connect(memoryPair()[0], { principal: principal as never }), {
      name: "TypeError",
      message: `agent.connect: principal must be a text that names the client, got ${got}`,
    });
  await made.close();
});

test("a session whose record is damaged is deleted for the local user, and for no other principal", async () => {
  const memory = memoryStore();
  const store: SessionStore = {
    ...memory,
    get: (sessionId) =>
      sessionId === "damaged" ? Promise.reject(new Error("damaged")) : memory.get(sessionId),
  };
  const deleted: string[] = [];
  const made = agentWith(store, deleted);
  const somebody = await attachedClient(made, { principal: "somebody" });
  await rejects(somebody.connection.deleteSession("damaged"), -32067);
  assert.deepEqual(deleted, []);
  await (await attachedClient(made)).connection.deleteSession("damaged");
  assert.deepEqual(deleted, ["delete damaged"]);
  await made.close();
});
