// Messages for work that is running: another prompt on version 2, `_session/steering` on version 1.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, inEveryWay } from "../../../test/support/every-way.ts";
import {
  aborted,
  chunk,
  failsWith,
  initialize,
  initialized,
  place,
  quiet,
  rejects,
  said,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { RequestError, type SessionUpdate, textOf } from "../../index.ts";

/** An agent that works until it is steered, and says what it was told. */
function steerable() {
  const working = Promise.withResolvers<void>();
  return {
    working: working.promise,
    definition: {
      concurrentPrompts: "inbox",
      async prompt(turn) {
        if (turn.text === "ask") return void (await turn.say("Nothing runs. "));
        working.resolve();
        for await (const { prompt } of turn.inbox) {
          await turn.say(`Told: ${textOf(prompt)}. `);
          if (textOf(prompt) === "stop") break;
        }
      },
    } satisfies Partial<Parameters<typeof connected>[1]> & Parameters<typeof connected>[1],
  };
}

inEveryWay("a message joins the work that runs, and gets its result", async (way) => {
  const { working, definition } = steerable();
  const { connection, wire } = await connected(way, definition);
  assert.equal(connection.capabilities.steer, true);
  const session = await connection.newSession(place);
  const updates: SessionUpdate[] = [];
  const entries: string[] = [];
  session.onUpdate((update) => updates.push(update));
  session.onEntry(({ kind }) => void (kind === "update" ? undefined : entries.push(kind)));
  const prompt = session.prompt("work");
  await working;
  const first = session.steer("left");
  const messageId = await first.accepted;
  const last = session.steer([text("stop")], { _meta: { "example.com/a": 1 } });
  const outcome = await prompt;
  assert.equal(outcome.stopReason, "end_turn");
  assert.deepEqual(
    [await first, await last],
    [
      { ...outcome, joined: true },
      { ...outcome, joined: true },
    ],
  );
  assert.equal(said(updates), "Told: left. Told: stop. ");
  const messages = updates.flatMap((update) =>
    update.sessionUpdate === "user_message" ? [[update.messageId, textOf(update.content ?? [])]] : [],
  );
  assert.deepEqual(
    messages.map(([, shown]) => shown),
    ["work", "left", "stop"],
    "each message is shown once",
  );
  assert.equal(messages[1]?.[0], messageId);
  assert.deepEqual(entries.toSorted(), ["prompt", "prompt", "prompt", "result", "result", "result"]);
  const methods = wire.filter(({ from }) => from === "client").map(({ message }) => message["method"]);
  const steering = way.client === "v1" ? "_session/steering" : "session/prompt";
  assert.deepEqual(methods.slice(2), ["session/prompt", steering, steering]);
  // the history has the messages
  const replayed: SessionUpdate[] = [];
  await session.close();
  await connection.loadSession(session.sessionId, { ...place, onUpdate: (update) => replayed.push(update) });
  const texts = replayed.flatMap((update) =>
    update.sessionUpdate === "user_message"
      ? [textOf(update.content ?? [])]
      : update.sessionUpdate === "user_message_chunk"
        ? [textOf(update.content)]
        : [],
  );
  assert.deepEqual(texts, ["work", "left", "stop"]);
});

inEveryWay("a message for work is a prompt when nothing runs", async (way) => {
  const { connection } = await connected(way, steerable().definition);
  const session = await connection.newSession(place);
  const prompt = session.steer("ask");
  assert.equal(await prompt.text(), "Nothing runs. ");
  assert.equal((await prompt).stopReason, "end_turn");
});

inEveryWay("a cancel ends the work and the messages that joined it", async (way) => {
  const { working, definition } = steerable();
  const { connection } = await connected(way, definition);
  const session = await connection.newSession(place);
  const prompt = session.prompt("work");
  await working;
  const joined = session.steer("left");
  await joined.accepted;
  joined.cancel();
  assert.deepEqual([(await prompt).stopReason, (await joined).stopReason], ["cancelled", "cancelled"]);
});

inEveryWay("a message that the turn does not take before its end starts the next turn", async (way) => {
  const gate = Promise.withResolvers<void>();
  const working = Promise.withResolvers<void>();
  const { connection } = await connected(way, {
    concurrentPrompts: "inbox",
    async prompt(turn) {
      working.resolve();
      await turn.say(`${turn.text}. `);
      await gate.promise;
    },
  });
  const session = await connection.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  const prompt = session.prompt("one");
  await working.promise;
  const late = session.steer("two");
  await quiet();
  gate.resolve();
  assert.equal((await prompt).stopReason, "end_turn");
  // a v2 agent has the message by then, and version 1 has no word for the end of its turn
  const isRelayed = way.client === "v1" && way.agent === "v2";
  assert.deepEqual(await late, { stopReason: isRelayed ? "_detached" : "end_turn" });
  await quiet();
  assert.equal(said(updates), "one. two. ");
});

test("an agent that takes no messages while it works is not sent any", async () => {
  const answered = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(1, { "session/prompt": () => answered.promise });
  const session = await agent.newSession(place);
  assert.equal(agent.capabilities.steer, false);
  const prompt = session.prompt("work");
  assert.throws(() => session.steer("x"), { name: "TypeError", message: /takes no messages while it works/ });
  answered.resolve({ stopReason: "end_turn" });
  await prompt;
  assert.deepEqual(peer.methods(), ["initialize", "session/new", "session/prompt"]);
});

/** An agent that offers steering as the adapters of Claude and Codex do. */
async function adapter(answer: (params: Record<string, unknown>) => unknown) {
  const answered = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(1, {
    initialize: () => ({ ...initialized(1), _meta: { steering: { supported: true } } }),
    "session/prompt": () => answered.promise,
    "_session/steering": answer,
  });
  const session = await agent.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  return { session, peer, updates, end: () => answered.resolve({ stopReason: "end_turn" }) };
}

test("an adapter gets the message with its session, and leaves it to us when nothing runs", async () => {
  const { session, peer, updates, end } = await adapter(() => ({ outcome: "injected" }));
  const prompt = session.prompt("work");
  peer.update("s1", chunk("before"));
  await session.steer("stop").accepted;
  peer.update("s1", chunk("after"));
  end();
  await prompt;
  assert.deepEqual(peer.got.at(-1)?.params, {
    sessionId: "s1",
    prompt: [text("stop")],
    _meta: { steering: { idleBehavior: "promptRequired" } },
  });
  const [before, after] = updates.filter((update) => update.sessionUpdate === "agent_message_chunk");
  assert.notEqual(before?.messageId, after?.messageId, "what follows the message is another message");
});

test("a message that comes too late for the work is sent as a prompt", async () => {
  const { session, peer, end } = await adapter(() => {
    end();
    return { outcome: "promptRequired", reason: "noRunningTurn" };
  });
  const prompt = session.prompt("work");
  const late = session.steer("stop");
  assert.deepEqual([await prompt, await late], [{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
  assert.deepEqual(peer.methods().slice(2), ["session/prompt", "_session/steering", "session/prompt"]);
});

test("work that an adapter begins by itself has no end that it reports", async () => {
  const { session, end } = await adapter(() => ({ outcome: "startedNewTurn" }));
  const prompt = session.prompt("work");
  assert.deepEqual(await session.steer("more"), { stopReason: "_detached" });
  end();
  await prompt;
});

test("a message that an adapter does not take is an error of that message alone", async () => {
  for (const answer of [{ outcome: "failed" }, {}, null]) {
    const { session, end } = await adapter(() => answer);
    const prompt = session.prompt("work");
    await failsWith(session.steer("more").result, -32603, { reason: "steering_failed" });
    end();
    assert.equal((await prompt).stopReason, "end_turn");
  }
});

for (const version of [1, 2])
  test(`our agent takes messages as the adapters do (v${version})`, async () => {
    const { working, definition } = steerable();
    const { call, peer } = withScriptedClient(definition);
    const answer = (await call("initialize", initialize(version))) as { _meta?: object };
    assert.deepEqual(answer._meta, version === 1 ? { steering: { supported: true } } : undefined);
    const { sessionId } = (await call("session/new", { cwd: "/project", mcpServers: [] })) as {
      sessionId: string;
    };
    const steer = (words: string, more: object = {}) =>
      call("_session/steering", { sessionId, prompt: [text(words)], ...more });
    const keep = { _meta: { steering: { idleBehavior: "promptRequired" } } };
    assert.deepEqual(await steer("stop", keep), { outcome: "promptRequired", reason: "noRunningTurn" });
    const turn = call("session/prompt", { sessionId, prompt: [text("work")] });
    await working;
    assert.deepEqual(await steer("stop", keep), { outcome: "injected" });
    await turn;
    await quiet();
    assert.deepEqual(await steer("ask"), { outcome: "startedNewTurn" });
    await rejects(call("_session/steering", { sessionId }), -32602, { path: "/prompt" });
    await rejects(call("_session/steering", { sessionId: "nobody", prompt: [text("x")] }), -32002);
    await rejects(steer("x", { prompt: [{ type: "image", mimeType: "image/png", data: "" }] }), -32602);
    await quiet();
    assert.ok(peer.methods().every((method) => method === "session/update"));
  });

test("an agent whose prompts wait for their turn offers no steering, and an app may answer it itself", async () => {
  const plain = withScriptedClient({ prompt: () => undefined });
  assert.ok(!("_meta" in ((await plain.call("initialize", initialize(1))) as object)));
  await rejects(plain.call("_session/steering", {}), -32601);
  const own = withScriptedClient({
    concurrentPrompts: "inbox",
    prompt: (turn) => aborted(turn.signal),
    extensions: { requests: { "_session/steering": () => ({ own: true }) } },
  });
  await own.call("initialize", initialize(1));
  assert.deepEqual(await own.call("_session/steering", {}), { own: true });
});

for (const end of ["a result", "an error"]) {
  test(`steering that fails does not take back the cancel of the work, which ends with ${end} (version 1)`, async () => {
    const steered = Promise.withResolvers<void>();
    const answers = [Promise.withResolvers<object>(), Promise.withResolvers<object>()] as const;
    const { agent: connection } = await withScriptedAgent(1, {
      initialize: () => ({ ...initialized(1), _meta: { steering: { supported: true } } }),
      "session/prompt": () => answers[0].promise,
      "_session/steering"() {
        steered.resolve();
        return answers[1].promise;
      },
    });
    const session = await connection.newSession(place);
    const states: unknown[] = [];
    session.onUpdate((update) => {
      if (update.sessionUpdate === "state_update" && update.state === "idle") states.push(update.stopReason);
    });
    const prompt = session.prompt("work");
    const message = session.steer("more");
    await steered.promise;
    session.cancel();
    answers[1].reject(new RequestError("internal_error", "the turn was cancelled"));
    assert.equal((await message.result).stopReason, "cancelled");
    if (end === "a result") answers[0].resolve({ stopReason: "end_turn" });
    else answers[0].reject(new RequestError("internal_error", "aborted"));
    assert.equal((await prompt.result).stopReason, "cancelled");
    assert.deepEqual(states, ["cancelled"]);
    await connection.close();
  });
}
