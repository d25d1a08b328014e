import assert from "node:assert/strict";
import type { SessionUpdate } from "@parley/acp";
import { memoryStore } from "@parley/acp/store";
import {
  type Answer,
  calls,
  connected,
  inEveryVersion,
  said,
  says,
  scriptedModel,
  talk,
  thought,
} from "../../test/support/agent-probe.ts";
import { customTool } from "../../test/support/stub-tools.ts";
import { ModelError, type ModelMessage } from "../model/model.ts";

/** A model that cannot take what it is told. */
const overflows = (message: string): Answer =>
  // biome-ignore lint/correctness/useYield: it fails before it says anything
  async function* () {
    throw new ModelError("overflow", message);
  };

const long = (words: string, tokens: number) => `${words} ${"x".repeat(tokens * 4)}`;

function compactions(updates: readonly SessionUpdate[]): string[] {
  return updates.flatMap((u) => (u.sessionUpdate === "compaction_update" ? [String(u.status)] : []));
}

/** Every call is followed by its outcomes, and no outcome comes without its call. */
function assertPaired(messages: readonly ModelMessage[]): void {
  for (const [i, message] of messages.entries()) {
    const called = message.role === "assistant" && message.content.some(({ type }) => type === "tool_call");
    assert.equal(called, messages[i + 1]?.role === "tool", `message ${i}`);
  }
}

inEveryVersion("a conversation that grows too long is compacted, visibly, and goes on", {}, async (setup) => {
  const big = customTool("big", async () => long("output", 3_000));
  const model = scriptedModel(
    [
      says("noted"),
      calls(["big", {}]),
      calls(["big", {}]),
      says("We talked about cats."), // the summary
      says("done"),
    ].map(
      (answer): Answer =>
        answer.map((event) => (event.type === "end" ? { ...event, usage: undefined } : event)),
    ),
    { contextWindow: 10_000 },
  );
  const { session, updates } = await talk({ ...setup, tools: [big], models: [model] });
  await session.prompt(long("my cat is called Tom", 1_500)).result;
  await session.prompt("work").result;
  assert.deepEqual(compactions(updates), ["in_progress", "completed"]);
  assert.match(JSON.stringify(model.requests[3]?.messages.at(-1)), /Summarise this conversation/);
  assert.deepEqual(model.requests[3]?.tools, []);
  const { messages = [] } = model.requests[4] ?? {};
  assertPaired(messages);
  assertPaired(model.requests[3]?.messages ?? []);
  assert.match(JSON.stringify(messages[0]), /Summary of the conversation so far:.*We talked about cats/);
  assert.doesNotMatch(JSON.stringify(messages), /Tom/);
  assert.doesNotMatch(said(updates), /cats/, "the summary is not an answer");
});

inEveryVersion("a request that overflows is made again with a summary, once", {}, async (setup) => {
  const overflow = overflows("the prompt is too long");
  const model = scriptedModel([
    says("one"),
    overflow,
    says("All about cats."),
    says("two"),
    overflow,
    says("x"),
    overflow,
  ]);
  const { session, updates } = await talk({ ...setup, models: [model], tools: [] });
  await session.prompt("first").result;
  assert.equal((await session.prompt("second").result).stopReason, "end_turn");
  assert.equal(said(updates), "onetwo");
  assert.deepEqual(
    model.requests[3]?.messages.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
  const { stopReason, error } = await session.prompt("third").result;
  assert.equal(stopReason, "error");
  assert.equal(error?.message, "the prompt is too long");
});

inEveryVersion("/compact makes a summary now, and the summary is there after a load", {}, async (setup) => {
  const store = memoryStore();
  const model = scriptedModel([says("one"), says("Tom is a cat."), says("two")]);
  const first = await talk({ ...setup, models: [model], tools: [], store });
  await first.session.prompt(long("my cat is called Tom", 21_000)).result;
  await first.session.prompt("/compact the cat").result;
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /keep what concerns: the cat/);
  await first.session.prompt("what is Tom?").result;
  assert.match(said(first.updates), /is now a summary/);
  await first.end();
  const later = scriptedModel([says("three")]);
  const again = await connected({ ...setup, models: [later], tools: [], store });
  const session = await again.agent.loadSession(first.session.sessionId, { cwd: setup.cwd });
  await session.prompt("and?").result;
  const before = model.requests[2]?.messages ?? [];
  const after = later.requests[0]?.messages ?? [];
  assert.deepEqual(after.slice(0, before.length), before);
});

inEveryVersion("a summary that fails is replaced by one without the model", {}, async (setup) => {
  const model = scriptedModel([says("one"), overflows("too long"), says("two")]);
  const { session } = await talk({ ...setup, models: [model], tools: [] });
  await session.prompt(long("my cat is called Tom", 21_000)).result;
  await session.prompt("/compact").result;
  await session.prompt("go on").result;
  assert.match(JSON.stringify(model.requests[2]?.messages[0]), /Asked:\\n- my cat is called Tom/);
});

inEveryVersion("/compact summarises even a short conversation", {}, async (setup) => {
  const model = scriptedModel([says("one"), says("two"), says("We counted."), says("three")]);
  const { session, updates } = await talk({ ...setup, models: [model], tools: [] });
  await session.prompt("first").result;
  await session.prompt("second").result;
  updates.length = 0;
  await session.prompt("/compact").result;
  assert.equal(said(updates), "The conversation is now a summary.");
  assert.equal(thought(updates), "");
  await session.prompt("third").result;
  const told = model.requests[3]?.messages.map(({ role }) => role);
  assert.deepEqual(told, ["user", "user"]);
  assert.match(JSON.stringify(model.requests[3]?.messages[0]), /We counted\./);
});
