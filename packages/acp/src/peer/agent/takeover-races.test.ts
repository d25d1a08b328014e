// What happens to a session at the same moment as a takeover.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attachedClient } from "../../../test/support/attached-client.ts";
import { initialize, place, quiet, rejects, said } from "../../../test/support/peer-probe.ts";
import { type AgentDefinition, agent } from "../../index.ts";
import { Connection } from "../../jsonrpc.ts";
import { memoryStore, type SessionStore } from "../../store.ts";
import { memoryPair } from "../../transport.ts";

/** A store whose history can be made to wait. */
function gatedStore() {
  const memory = memoryStore();
  let gate: PromiseWithResolvers<void> | undefined;
  const store: SessionStore = {
    ...memory,
    async *entries(sessionId, fromSeq) {
      await gate?.promise;
      yield* memory.entries(sessionId, fromSeq);
    },
  };
  return {
    store,
    shut: () => {
      gate = Promise.withResolvers();
    },
    open: () => gate?.resolve(),
  };
}

/** One session with a turn that runs until it is let go or cancelled, at a client that may be away. */
async function running(definition: Partial<AgentDefinition> = {}) {
  const gate = Promise.withResolvers<void>();
  const ends: string[] = [];
  const { store, ...history } = gatedStore();
  const made = agent({
    name: "a",
    version: "1",
    ...definition,
    session: { store, ...definition.session },
    async prompt(turn) {
      turn.signal.addEventListener("abort", () => gate.resolve());
      await turn.say("begun ");
      await gate.promise;
      ends.push(turn.signal.aborted ? "aborted" : "done");
      await turn.say("done");
    },
  });
  const old = await attachedClient(made);
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  return { made, old, session, sessionId: session.sessionId, ends, go: () => gate.resolve(), history };
}

test("of two that take a session over at once, the second has it, and the first is told", async () => {
  const { made, old, sessionId, go, ends } = await running();
  const [one, two] = [await attachedClient(made), await attachedClient(made)];
  const [first, second] = await Promise.all([
    one.load(sessionId, { takeover: true }),
    two.load(sessionId, { takeover: true }),
  ]);
  assert.deepEqual([old.taken, one.taken, two.taken], [[{ sessionId }], [{ sessionId }], []]);
  go();
  await quiet();
  assert.equal(said(second.updates), "begun done");
  assert.equal(said(first.updates), "begun ");
  assert.deepEqual(ends, ["done"]);
  await made.close();
});

test("of two that load the session of a client that is away, the first has it", async () => {
  const { made, old, sessionId, ends } = await running();
  const [one, two] = [await attachedClient(made), await attachedClient(made)];
  old.detach();
  const [first, second] = await Promise.allSettled([one.load(sessionId), two.load(sessionId)]);
  assert.equal(first.status, "fulfilled");
  assert.ok(second.status === "rejected");
  await rejects(Promise.reject(second.reason), -32066, { reason: "session_held" });
  assert.deepEqual(ends, []);
  await made.close();
});

test("a session that is being opened is held at once, and taken over when it is open", async () => {
  const gate = Promise.withResolvers<void>();
  let opens = 0;
  const { made, old, session, sessionId } = await running({
    session: {
      open: async () => {
        if (++opens === 2) await gate.promise;
      },
    },
  });
  await session.close();
  const [one, two, three] = [
    await attachedClient(made),
    await attachedClient(made),
    await attachedClient(made),
  ];
  const loading = one.load(sessionId);
  await quiet();
  await rejects(three.load(sessionId), -32066, { reason: "session_held" });
  const taking = two.load(sessionId, { takeover: true });
  await quiet();
  gate.resolve();
  await Promise.all([loading, taking]);
  assert.deepEqual([opens, one.taken, old.taken], [2, [{ sessionId }], []]);
  await made.close();
});

test("a client that loads again after another one had the session gets what it missed", async () => {
  const { made, old, sessionId, history, go } = await running();
  history.shut();
  const [again, other] = [old.load(sessionId), await attachedClient(made)];
  const taking = other.load(sessionId, { takeover: true });
  const back = old.load(sessionId, { takeover: true });
  history.open();
  await Promise.all([again, taking]);
  const { updates } = await back;
  assert.deepEqual(other.taken, [{ sessionId }]);
  go();
  await quiet();
  assert.equal(said(updates).replaceAll("begun ", ""), "done");
  await made.close();
});

test("a close and a cancel of the old client during a takeover have no effect", async () => {
  const { made, session, sessionId, history, ends, go } = await running();
  const next = await attachedClient(made);
  history.shut();
  const loading = next.load(sessionId, { takeover: true });
  await quiet();
  await session.cancel();
  const closing = session.close();
  await quiet();
  assert.deepEqual(ends, []);
  history.open();
  const { updates } = await loading;
  await closing;
  go();
  await quiet();
  assert.deepEqual([ends, said(updates)], [["done"], "begun done"]);
  await made.close();
});

test("a load behind a close opens the session anew", async () => {
  const { made, session, sessionId, ends } = await running();
  const next = await attachedClient(made);
  const [, { updates }] = await Promise.all([session.close(), next.load(sessionId, { takeover: true })]);
  assert.deepEqual([ends, said(updates).startsWith("begun ")], [["aborted"], true]);
  await made.close();
});

test("a client that dies while it takes a session over ends it, and the next one can have it", async () => {
  const { made, old, sessionId, history, ends } = await running();
  const next = await attachedClient(made);
  history.shut();
  const loading = next.load(sessionId, { takeover: true });
  loading.catch(() => undefined);
  await quiet();
  await next.connection.close();
  history.open();
  await next.served.closed;
  assert.deepEqual(ends, ["aborted"]);
  assert.match(said((await old.load(sessionId)).updates), /^begun /);
  await made.close();
});

test("a session whose connection has just ended is opened anew, never by two at once", async () => {
  for (const order of ["end first", "load first"]) {
    const { made, old, sessionId, ends } = await running();
    const next = await attachedClient(made);
    old.detach();
    const ending = order === "end first" ? old.served.close() : undefined;
    const { updates } = await next.load(sessionId);
    await (ending ?? old.served.close());
    assert.deepEqual(ends, order === "end first" ? ["aborted"] : [], order);
    assert.match(said(updates), /^begun /);
    await made.close();
  }
});

test("the new client is asked after it has the answer that gives it the session", async () => {
  const made = agent({
    name: "a",
    version: "1",
    async prompt(turn) {
      await turn.requestPermission("May I?");
    },
  });
  const old = await attachedClient(made, { requestPermission: () => new Promise(() => undefined) });
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  old.detach();
  for (const version of [1, 2]) {
    const [near, far] = memoryPair();
    made.connect(far);
    const seen: string[] = [];
    const raw = new Connection(near, {
      tap: (direction, text) => {
        const { method, id } = JSON.parse(text) as { method?: string; id?: number };
        if (direction === "in") seen.push(method ?? `answer ${id}`);
      },
      handlers: { request: () => new Promise(() => undefined), notification: () => undefined },
    });
    await raw.request("initialize", initialize(version));
    const { sessionId } = session;
    const load = version === 1 ? "session/load" : "session/resume";
    const _meta = { "_parley.dev/takeover": true };
    await raw.request(load, { ...place, sessionId, mcpServers: [], _meta });
    await quiet();
    const methods = seen.filter((method) => method !== "session/update");
    assert.deepEqual(methods, ["answer 1", "answer 2", "session/request_permission"]);
  }
  await made.close();
});
