// A session outlives the connection of its client: another client takes it over, with what runs in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attachedClient } from "../../../test/support/attached-client.ts";
import {
  failsWith,
  initialize,
  place,
  quiet,
  rejects,
  said,
  states,
} from "../../../test/support/peer-probe.ts";
import {
  type Agent,
  type AgentDefinition,
  agent,
  client,
  type Edition,
  type Editions,
  type SessionUpdate,
  type Turn,
  textOf,
} from "../../index.ts";
import { Connection } from "../../jsonrpc.ts";
import { memoryStore, type SessionStore } from "../../store.ts";
import { memoryPair } from "../../transport.ts";

interface Message {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever comes is compared
  readonly params: any;
}
interface Opened {
  readonly sessionId: string;
}

const taken = {
  name: "ConnectionError",
  kind: "session_taken",
  message: /another client has taken the session/,
};
const editions: Editions = ["v2", "v1"];

function agentOf(definition: Partial<AgentDefinition> & Pick<AgentDefinition, "prompt">): Agent {
  return agent({ name: "a", version: "1", editions, ...definition });
}

/** An agent whose turns say the prompt, wait for a word of the test, and say that they are done. */
function waitingAgent(definition: Partial<AgentDefinition> = {}) {
  const gates: PromiseWithResolvers<void>[] = [];
  const outcomes: string[] = [];
  const made = agentOf({
    ...definition,
    async prompt(turn: Turn) {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      turn.signal.addEventListener("abort", () => gate.resolve());
      await turn.say(`${turn.text}…`);
      await gate.promise;
      outcomes.push(turn.signal.aborted ? "aborted" : "done");
      await turn.say("done");
    },
  });
  return { made, outcomes, go: (index = 0) => gates[index]?.resolve(), turns: () => gates.length };
}

function userTexts(updates: readonly SessionUpdate[]): string[] {
  return updates
    .flatMap((update) => {
      if (update.sessionUpdate === "user_message") return [textOf(update.content ?? [])];
      return update.sessionUpdate === "user_message_chunk" ? [textOf(update.content)] : [];
    })
    .filter((text) => text !== "");
}

const ways: readonly (readonly [Edition, Edition])[] = [
  ["v1", "v1"],
  ["v1", "v2"],
  ["v2", "v1"],
  ["v2", "v2"],
];

for (const [before, after] of ways)
  test(`H18 a client on ${after} takes a session over from one on ${before} that is away, and sees its turn go on`, async () => {
    const { made, outcomes, go } = waitingAgent();
    const old = await attachedClient(made, { edition: before });
    const session = await old.connection.newSession(place);
    session.prompt("hello").result.catch(() => undefined);
    await quiet();
    old.detach();
    const next = await attachedClient(made, { edition: after });
    const { session: again, updates } = await next.load(session.sessionId);
    assert.deepEqual(userTexts(updates), ["hello"]);
    assert.equal(said(updates), "hello…");
    go();
    await quiet();
    assert.equal(said(updates), "hello…done");
    assert.deepEqual(outcomes, ["done"]);
    if (after === "v2") assert.deepEqual(states(updates), ["running", "idle"]);
    const more = again.prompt("more");
    await quiet();
    go(1);
    assert.equal((await more.result).stopReason, "end_turn");
    await made.close();
  });

test("a resume takes a session over too, and its client sees what goes on, without the history", async () => {
  const { made, go } = waitingAgent();
  const old = await attachedClient(made);
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  old.detach();
  const next = await attachedClient(made);
  const { updates } = await next.load(session.sessionId, { resume: true });
  assert.deepEqual([said(updates), states(updates)], ["", ["running"]]);
  go();
  await quiet();
  assert.deepEqual([said(updates), states(updates)], ["done", ["running", "idle"]]);
  await made.close();
});

test("a session whose client is there is held: -32066, unless the load says that it takes it over", async () => {
  const { made, go, outcomes } = waitingAgent();
  const old = await attachedClient(made);
  const session = await old.connection.newSession(place);
  const first = session.prompt("hello");
  const waiting = session.prompt("never run");
  await quiet();
  const next = await attachedClient(made);
  for (const resume of [true, false]) {
    const error = await rejects(next.load(session.sessionId, { resume }), -32066, { reason: "session_held" });
    assert.match(error.message, /"_parley.dev\/takeover": true/);
  }
  assert.deepEqual(old.taken, []);
  const { updates } = await next.load(session.sessionId, { takeover: true });
  assert.deepEqual(old.taken, [{ sessionId: session.sessionId }]);
  // what had not begun is taken back, and the old client can do nothing more
  for (const prompt of [first, waiting, session.prompt("late")]) await assert.rejects(prompt.result, taken);
  await session.cancel();
  await session.close();
  await quiet();
  assert.deepEqual(outcomes, []);
  go();
  assert.ok(await first.accepted);
  await quiet();
  assert.deepEqual([outcomes, said(updates)], [["done"], "hello…done"]);
  // the old one may have it back
  await rejects(old.load(session.sessionId), -32066, { reason: "session_held" });
  next.detach();
  assert.equal(said((await old.load(session.sessionId)).updates), "hello…done");
  await made.close();
});

for (const [before, after] of ways)
  test(`a client on ${after} that takes a session in a turn gets its own answer alone, and the one on ${before} is told`, async () => {
    for (const how of [{ resume: after.startsWith("v") }, { resume: false }]) {
      const { made, go, outcomes } = waitingAgent();
      const old = await attachedClient(made, { edition: before });
      const session = await old.connection.newSession(place);
      const lost = [session.prompt("first"), session.prompt("second"), session.prompt("third")];
      await quiet();
      const next = await attachedClient(made, { edition: after });
      const { session: again } = await next.load(session.sessionId, { takeover: true, ...how });
      for (const prompt of lost) await assert.rejects(prompt.result, taken);
      assert.equal(session.state, "idle");
      const mine = again.prompt("mine");
      const text = mine.text();
      await quiet();
      go();
      await quiet();
      go(1);
      assert.equal(await text, "mine…done");
      assert.equal((await mine.result).stopReason, "end_turn");
      assert.deepEqual(outcomes, ["done", "done"], "the turn went on, and what waited was never begun");
      await made.close();
    }
  });

test("on the wire, the old client is told that its turn was cancelled before it is told that its session is taken", async () => {
  for (const version of [1, 2] as const) {
    const { made } = waitingAgent();
    const [near, far] = memoryPair();
    made.connect(far);
    const got: Message[] = [];
    const old = new Connection(near, {
      handlers: {
        request: () => assert.fail("nothing is asked"),
        notification: (method: string, params: unknown) => void got.push({ method, params }),
      },
    });
    await old.request("initialize", initialize(version));
    const { sessionId } = (await old.request("session/new", { ...place, mcpServers: [] })) as Opened;
    const prompt = [{ type: "text", text: "hello" }];
    const answer = old.request("session/prompt", { sessionId, prompt });
    await quiet();
    got.length = 0;
    const next = await attachedClient(made, { edition: `v${version}` });
    await next.load(sessionId, { takeover: true });
    const told = got.map(({ method, params }) => [method, params.update?.state, params.update?.stopReason]);
    const gone = ["_parley.dev/session_taken", undefined, undefined];
    if (version === 2) assert.deepEqual(told, [["session/update", "idle", "cancelled"], gone]);
    else assert.deepEqual(told, [gone]);
    if (version === 1) assert.deepEqual(await answer, { stopReason: "cancelled" });
    await made.close();
  }
});

test("the prompt of a v1 client that takes over a running turn is queued, also where prompts are refused meanwhile", async () => {
  for (const concurrentPrompts of ["queue", "reject"] as const) {
    const { made, go, turns } = waitingAgent({ concurrentPrompts });
    const old = await attachedClient(made);
    const session = await old.connection.newSession(place);
    session.prompt("first").result.catch(() => undefined);
    await quiet();
    old.detach();
    const next = await attachedClient(made, { edition: "v1" });
    const { session: again } = await next.load(session.sessionId);
    const { result } = again.prompt("second");
    await quiet();
    assert.equal(turns(), 1);
    go();
    await quiet();
    go(1);
    assert.equal((await result).stopReason, "end_turn", concurrentPrompts);
    await made.close();
  }
});

test("a v2 client that takes over a running turn is told so, and its prompt is refused where the agent refuses them", async () => {
  const { made } = waitingAgent({ concurrentPrompts: "reject" });
  const old = await attachedClient(made);
  const session = await old.connection.newSession(place);
  session.prompt("first").result.catch(() => undefined);
  await quiet();
  old.detach();
  const next = await attachedClient(made);
  const { session: again } = await next.load(session.sessionId);
  await failsWith(again.prompt("second").result, -32064);
  await made.close();
});

for (const edition of ["v1", "v2"] as const)
  test(`the end of the old connection ends what it still holds, and not the turn that was taken over (${edition})`, async () => {
    const { made, outcomes, go } = waitingAgent();
    const old = await attachedClient(made, { edition });
    const [kept, taken] = [await old.connection.newSession(place), await old.connection.newSession(place)];
    for (const session of [kept, taken]) session.prompt("hello").result.catch(() => undefined);
    await quiet();
    old.detach();
    const next = await attachedClient(made, { edition });
    const { updates } = await next.load(taken.sessionId);
    await old.served.close();
    assert.deepEqual(outcomes, ["aborted"]);
    go(1);
    await quiet();
    assert.deepEqual([outcomes, said(updates)], [["aborted", "done"], "hello…done"]);
    assert.match(said((await next.load(kept.sessionId)).updates), /^hello…/);
    await made.close();
  });

test("a connection without attachment holds its sessions until it ends, and its end closes them (G4)", async () => {
  const { made, outcomes } = waitingAgent();
  const [near, far] = memoryPair();
  const served = made.connect(far);
  const old = await client({ name: "c", version: "1" }).connect(near);
  const session = await old.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  const next = await attachedClient(made);
  await rejects(next.load(session.sessionId), -32066, { reason: "session_held" });
  assert.deepEqual(outcomes, []);
  await old.close();
  await served.closed;
  assert.deepEqual(outcomes, ["aborted"]);
  assert.match(said((await next.load(session.sessionId)).updates), /^hello…/);
  await made.close();
});

test("a client that comes back by its own connection finds its session as it was, and its question open", async () => {
  const answers: string[] = [];
  const made = agentOf({
    async prompt(turn) {
      answers.push((await turn.requestPermission("May I?"))?.kind ?? "no");
    },
  });
  const gate = Promise.withResolvers<string>();
  const old = await attachedClient(made, { requestPermission: () => gate.promise });
  const session = await old.connection.newSession(place);
  const { result } = session.prompt("hello");
  await quiet();
  old.detach();
  await quiet();
  assert.deepEqual(answers, []);
  old.attach();
  gate.resolve("allow_once");
  assert.equal((await result).stopReason, "end_turn");
  assert.deepEqual([answers, old.taken], [["allow_once"], []]);
  await made.close();
});

test("a session that waits for a client that is away can be closed and deleted by another one of its user", async () => {
  const { made, outcomes } = waitingAgent();
  const old = await attachedClient(made);
  const next = await attachedClient(made);
  const [one, two, held] = [
    await old.connection.newSession(place),
    await old.connection.newSession(place),
    await next.connection.newSession(place),
  ];
  for (const session of [one, two, held]) session.prompt("hello").result.catch(() => undefined);
  await quiet();
  old.detach();
  const [near, far] = memoryPair();
  made.connect(far);
  const handlers = { request: () => undefined, notification: () => undefined };
  const raw = new Connection(near, { handlers });
  await raw.request("initialize", initialize(2));
  for (const { sessionId } of [one, held]) await raw.request("session/close", { sessionId });
  assert.deepEqual(outcomes, ["aborted"], "the one whose client is there goes on");
  await next.connection.deleteSession(two.sessionId);
  assert.deepEqual(outcomes, ["aborted", "aborted"]);
  await rejects(next.load(two.sessionId), -32002);
  assert.ok(await next.load(one.sessionId));
  await made.close();
});

test("the store's claim stays with the process while a session changes hands, and nothing is left at the end", async () => {
  const calls: string[] = [];
  const memory = memoryStore();
  const store: SessionStore = {
    ...memory,
    claim: (sessionId) => {
      calls.push("claim");
      return memory.claim(sessionId);
    },
    release: (claim) => {
      calls.push("release");
      return memory.release(claim);
    },
  };
  const opened: string[] = [];
  const { made, go } = waitingAgent({
    session: {
      store,
      open: (_, { origin }) => void opened.push(origin),
      close: () => void opened.push("closed"),
    },
  });
  const first = await attachedClient(made);
  const session = await first.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  for (let hands = 0; hands < 3; hands++) {
    const next = await attachedClient(made);
    await next.load(session.sessionId, { takeover: true });
  }
  assert.deepEqual([calls, opened], [[], ["new"]]);
  go();
  await quiet();
  await made.close();
  assert.deepEqual([calls, opened], [["release"], ["new", "closed"]]);
});
