// What happens to a session at the same moment as a takeover.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attachedClient } from "../../../test/support/attached-client.ts";
import { aborted, initialize, place, quiet, rejects, said } from "../../../test/support/peer-probe.ts";
import { type Agent, type AgentDefinition, agent } from "../../index.ts";
import { Connection } from "../../jsonrpc.ts";
import { memoryStore, type SessionStore } from "../../store.ts";
import { memoryPair } from "../../transport.ts";

/** A store whose history can be made to wait. */
function gatedStore() {
  const memory = memoryStore();
  let gate: PromiseWithResolvers<void> | undefined;
  const store: SessionStore = {
    ...memory,
    async *read(...given) {
      await gate?.promise;
      yield* memory.read(...given);
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

test("H18 of two that take a session over at once, the second has it, and the first is told", async () => {
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

/** A client by hand, and the kinds of what it is told. */
async function rawClient(made: Agent, version = 2) {
  const [near, far] = memoryPair();
  const served = made.connect(far);
  const seen: string[] = [];
  const connection = new Connection(near, {
    tap(direction, text) {
      const { method, id, params } = JSON.parse(text) as RawMessage;
      if (direction === "in") seen.push(params?.update?.sessionUpdate ?? method ?? `answer ${id}`);
    },
    handlers: { request: () => new Promise(() => undefined), notification: () => undefined },
  });
  await connection.request("initialize", initialize(version));
  const load = version === 1 ? "session/load" : "session/resume";
  const replay = version === 1 ? {} : { replayFrom: { type: "start" } };
  const _meta = { "_parley.dev/takeover": true };
  return {
    connection,
    served,
    seen,
    load: (sessionId: string) =>
      connection.request(load, { ...place, ...replay, sessionId, mcpServers: [], _meta }),
  };
}

interface RawMessage {
  readonly method?: string;
  readonly id?: number;
  readonly params?: { readonly update?: { readonly sessionUpdate: string } };
}

test("a client that loads again after another one had the session gets its history again", async () => {
  const { made, old, sessionId, history } = await running();
  const [one, two] = [await rawClient(made), await rawClient(made)];
  history.shut();
  // the second load of a client waits for its first, and gets no copy of its own, unless another client was in between
  const loads: Promise<unknown>[] = [];
  for (const each of [one, two, one]) {
    loads.push(each.load(sessionId));
    await quiet();
  }
  history.open();
  await Promise.all(loads);
  await quiet();
  const replays = one.seen.filter((kind) => kind === "user_message");
  assert.deepEqual(
    [replays.length, old.taken, two.seen.at(-1)],
    [2, [{ sessionId }], "_parley.dev/session_taken"],
  );
  await made.close();
});

test("a client that is dead by the time of its takeover takes nothing", async () => {
  const { made, old, sessionId, history, ends, go } = await running();
  const next = await rawClient(made);
  history.shut();
  const again = old.load(sessionId);
  await quiet();
  next.load(sessionId).catch(() => undefined);
  await quiet();
  void next.connection.close();
  await quiet();
  history.open();
  await again;
  await next.served.closed;
  go();
  await quiet();
  assert.deepEqual([old.taken, ends], [[], ["done"]]);
  await made.close();
});

test("a question that waits for a client that dies while it takes the session over ends with the session", async (t) => {
  const answers: unknown[] = [];
  const { store, shut } = gatedStore();
  const made = agent({
    name: "a",
    version: "1",
    session: { store },
    async prompt(turn) {
      answers.push(await turn.requestPermission("May I?"));
    },
  });
  const old = await attachedClient(made, { requestPermission: () => new Promise(() => undefined) });
  const { sessionId, prompt } = await old.connection.newSession(place);
  prompt("hello").result.catch(() => undefined);
  await quiet();
  const next = await rawClient(made);
  shut();
  next.load(sessionId).catch(() => undefined);
  await quiet();
  // the history never comes
  t.mock.timers.enable({ apis: ["setTimeout"] });
  void next.connection.close();
  for (let seconds = 0; seconds < 20; seconds++) {
    await quiet();
    t.mock.timers.tick(1_000);
  }
  await next.served.closed;
  assert.deepEqual(answers, [undefined]);
  t.mock.timers.reset();
  await made.close();
});

test("a load waits for a session that is being closed with its connection", async () => {
  const gate = Promise.withResolvers<void>();
  const made = agent({
    name: "a",
    version: "1",
    async prompt(turn) {
      await turn.say("begun ");
      await aborted(turn.signal).catch(() => undefined);
      await gate.promise;
    },
  });
  const old = await attachedClient(made);
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  const ended = old.connection.close();
  for (let turns = 0; turns < 5; turns++) await quiet();
  const next = await attachedClient(made);
  const loading = next.load(session.sessionId);
  await quiet();
  gate.resolve();
  assert.equal(said((await loading).updates), "begun ");
  await ended;
  await made.close();
});

test("a session whose opening hangs can be had when the connection that opens it has ended", async (t) => {
  let opens = 0;
  const { made, session, sessionId } = await running({
    session: { open: () => (++opens === 2 ? new Promise(() => undefined) : undefined) },
  });
  await session.close();
  const [one, two] = [await attachedClient(made), await attachedClient(made)];
  one.load(sessionId).catch(() => undefined);
  await quiet();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ending = one.served.close();
  const loading = two.load(sessionId);
  for (let seconds = 0; seconds < 20; seconds++) {
    await quiet();
    t.mock.timers.tick(1_000);
  }
  await Promise.all([ending, loading]);
  assert.equal(opens, 3);
  t.mock.timers.reset();
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
    const raw = await rawClient(made, version);
    await raw.load(session.sessionId);
    await quiet();
    const kinds = raw.seen.filter((kind) => kind !== "user_message" && !kind.endsWith("_update"));
    const [, , ...more] = kinds.filter((kind) => kind !== "user_message_chunk");
    assert.deepEqual([kinds.includes("answer 2"), more], [true, ["session/request_permission"]]);
  }
  await made.close();
});
