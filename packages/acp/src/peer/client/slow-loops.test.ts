// Iterators of prompts that are slower than their agent, or begin late.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chunk,
  place,
  quiet,
  type ScriptedPeer,
  said,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import { type ClientDefinition, ConnectionError, type Prompt, type SessionUpdate } from "../../index.ts";

interface Streaming {
  readonly peer: ScriptedPeer;
  readonly prompt: Prompt;
  end(): void;
}

async function streaming(definition: Partial<ClientDefinition> = {}): Promise<Streaming> {
  const done = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(1, { "session/prompt": () => done.promise }, definition);
  const session = await agent.newSession(place);
  const prompt = session.prompt("x");
  await quiet();
  return { peer, prompt, end: () => done.resolve({ stopReason: "end_turn" }) };
}

const plan = (n: number) => ({
  sessionUpdate: "plan",
  entries: [{ content: `step ${n}`, priority: "low", status: "pending" }],
});

/** Takes the first update, then waits until it is told to go on. */
async function stuckLoop(prompt: Prompt, goOn: Promise<void>, seen: SessionUpdate[]): Promise<void> {
  for await (const update of prompt) {
    seen.push(update);
    await goOn;
  }
}

const overflow = (error: unknown) => error instanceof ConnectionError && error.kind === "overflow";

test("a loop that lags gets text in larger pieces, all of it, and everything else as it came (G8)", async () => {
  const { peer, prompt, end } = await streaming({ connection: { maxUnreadUpdates: 2_000 } });
  const gate = Promise.withResolvers<void>();
  const seen: SessionUpdate[] = [];
  const loop = stuckLoop(prompt, gate.promise, seen);
  let expected = "";
  for (let i = 0; i < 20_000; i++) {
    expected += `${i} `;
    peer.update("s1", chunk(`${i} `));
  }
  peer.update("s1", plan(1));
  peer.update("s1", chunk("and more"));
  end();
  await prompt.result;
  gate.resolve();
  await loop;
  assert.equal(said(seen), `${expected}and more`);
  assert.ok(seen.length < 2_000, `${seen.length} updates`);
  assert.deepEqual(
    seen.slice(-4).map(({ sessionUpdate }) => sessionUpdate),
    ["agent_message_chunk", "plan_update", "agent_message_chunk", "state_update"],
  );
});

test("text that is said to be special is not joined", async () => {
  const { peer, prompt, end } = await streaming();
  const seen: SessionUpdate[] = [];
  const gate = Promise.withResolvers<void>();
  const loop = stuckLoop(prompt, gate.promise, seen);
  for (let i = 0; i < 1_100; i++) peer.update("s1", plan(i));
  const marked = { ...chunk("marked"), _meta: { "example.com/mark": 1 } };
  for (const update of [chunk("plain"), marked, chunk("plain"), chunk("other", "m2")])
    peer.update("s1", update);
  end();
  await prompt.result;
  gate.resolve();
  await loop;
  const texts = seen.flatMap((update) =>
    update.sessionUpdate === "agent_message_chunk" ? [said([update])] : [],
  );
  assert.deepEqual(texts, ["plain", "marked", "plain", "other"]);
});

for (const [name, limits, message] of [
  ["updates", { maxUnreadUpdates: 1_500 }, /more than 1500 updates/],
  ["characters", { maxUnreadChars: 50_000 }, /50000 characters/],
] as const) {
  test(`a loop that is too many ${name} behind fails with overflow, and the prompt goes on (G8)`, async () => {
    const { peer, prompt, end } = await streaming({ connection: limits });
    const gate = Promise.withResolvers<void>();
    const loop = stuckLoop(prompt, gate.promise, []);
    for (let i = 0; i < 2_000; i++) peer.update("s1", plan(i));
    await quiet();
    gate.resolve();
    await assert.rejects(loop, (error: Error) => overflow(error) && message.test(error.message));
    end();
    assert.equal((await prompt.result).stopReason, "end_turn");
  });
}

test("a loop that begins too late fails, one that begins in time misses nothing (G8)", async () => {
  for (const [count, isLate] of [
    [900, false],
    [1_100, true],
  ] as const) {
    const { peer, prompt, end } = await streaming();
    for (let i = 0; i < count; i++) peer.update("s1", plan(i));
    await quiet();
    end();
    await prompt.result;
    const seen: SessionUpdate[] = [];
    const loop = stuckLoop(prompt, Promise.resolve(), seen);
    if (isLate) await assert.rejects(loop, overflow);
    else await loop;
    const plans = seen.filter(({ sessionUpdate }) => sessionUpdate === "plan_update");
    assert.equal(plans.length, isLate ? 0 : count);
  }
});

test("a limit that is none is refused when the client connects", async () => {
  await assert.rejects(
    streaming({ connection: { maxUnreadUpdates: 0 } }),
    /maxUnreadUpdates: expected a number above 0 or Infinity, got 0/,
  );
});
