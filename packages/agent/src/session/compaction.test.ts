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
import { ModelError, type ModelErrorKind, type ModelMessage } from "../model/model.ts";

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
  const big = customTool("big", async () => long("output", 1_500));
  const model = scriptedModel(
    [
      says(long("noted", 3_500)),
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
  const { messages = [] } = model.requests[4] ?? {};
  assertPaired(messages);
  assertPaired(model.requests[3]?.messages ?? []);
  assert.match(JSON.stringify(messages[0]), /my cat is called Tom/, "the user's words stay");
  assert.match(JSON.stringify(messages[1]), /"text":"work"/);
  assert.match(JSON.stringify(messages[2]), /Summary of the conversation so far:.*We talked about cats/);
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
    ["user", "user", "assistant", "user"],
  );
  const { stopReason, error } = await session.prompt("third").result;
  assert.equal(stopReason, "error");
  assert.equal(error?.message, "the prompt is too long");
});

inEveryVersion("/compact makes a summary now, and the summary is there after a load", {}, async (setup) => {
  const store = memoryStore();
  const model = scriptedModel([says("zero"), says("one"), says("Tom is a cat."), says("two")]);
  const first = await talk({ ...setup, models: [model], tools: [], store });
  await first.session.prompt("I like dogs").result;
  await first.session.prompt(long("my cat is called Tom", 21_000)).result;
  await first.session.prompt("/compact the cat").result;
  assert.match(JSON.stringify(model.requests[2]?.messages.at(-1)), /keep everything about: the cat/);
  await first.session.prompt("what is Tom?").result;
  assert.match(said(first.updates), /was replaced by a summary/);
  await first.end();
  const later = scriptedModel([says("three")]);
  const again = await connected({ ...setup, models: [later], tools: [], store });
  const session = await again.agent.loadSession(first.session.sessionId, { cwd: setup.cwd });
  await session.prompt("and?").result;
  const before = model.requests[3]?.messages ?? [];
  assert.match(JSON.stringify(before), /I like dogs/);
  assert.doesNotMatch(JSON.stringify(before), /my cat is called/, "too long to be kept");
  const after = later.requests[0]?.messages ?? [];
  assert.deepEqual(after.slice(0, before.length), before);
});

const fails = (kind: ModelErrorKind, message: string): Answer =>
  // biome-ignore lint/correctness/useYield: it fails before it says anything
  async function* () {
    throw new ModelError(kind, message);
  };

inEveryVersion("B1 a summary that fails is reported, and nothing is forgotten", {}, async (setup) => {
  for (const answer of [
    fails("rate_limit", "no credit"),
    fails("bad_request", "tools are missing"),
    says(" "),
  ]) {
    const model = scriptedModel([says("one"), answer, says("two")]);
    const { session, updates, end } = await talk({ ...setup, models: [model], tools: [] });
    await session.prompt("my cat is called Tom").result;
    await session.prompt("/compact").result;
    assert.match(said(updates), /The conversation could not be summarised and stays unchanged/);
    assert.match(JSON.stringify(updates), /no credit|tools are missing|gave no summary/);
    assert.deepEqual(compactions(updates), ["in_progress", "failed"]);
    await session.prompt("go on").result;
    assert.deepEqual(
      model.requests[2]?.messages.map(({ role }) => role),
      ["user", "assistant", "user"],
    );
    await end();
  }
});

inEveryVersion("B1 a turn goes on when its summary fails, and asks for it once", {}, async (setup) => {
  const big = customTool("big", async () => long("output", 1_500));
  const uncounted = (answer: ReturnType<typeof says>): Answer =>
    answer.map((event) => (event.type === "end" ? { ...event, usage: undefined } : event));
  const answers = [
    uncounted(calls(["big", {}])),
    uncounted(calls(["big", {}])),
    fails("unavailable", "overloaded"),
    uncounted(calls(["big", {}])),
    uncounted(says("done")),
  ];
  const model = scriptedModel(answers, { contextWindow: 10_000 });
  const { session, updates } = await talk({ ...setup, tools: [big], models: [model], compactAt: 0.15 });
  const { stopReason } = await session.prompt(long("work", 100)).result;
  assert.equal(stopReason, "end_turn");
  assert.equal(said(updates), "done");
  assert.equal(compactions(updates).filter((status) => status === "failed").length, 1);
});

inEveryVersion(
  "B1 B2 a summary is asked for with the same prefix, and its cost counts",
  {},
  async (setup) => {
    const price = { input: 1_000_000, output: 1_000_000 };
    const tool = customTool("look", async () => "seen");
    const model = scriptedModel([calls(["look", {}]), says("one"), says("All seen.")], { price });
    const { session, updates } = await talk({ ...setup, models: [model], tools: [tool] });
    await session.prompt("look around").result;
    await session.prompt("/compact").result;
    const [, turn, summary] = model.requests;
    assert.equal(summary?.system, turn?.system);
    assert.deepEqual(summary?.tools, turn?.tools);
    assert.equal(summary?.tools.length, 1);
    assert.equal(summary?.effort, turn?.effort);
    const costs = updates.flatMap((u) => (u.sessionUpdate === "usage_update" ? [u.cost?.amount] : []));
    assert.equal(costs.at(-1), 330);
  },
);

inEveryVersion("B1 old output of tools is left out before anything is summarised", {}, async (setup) => {
  const big = customTool("big", async () => long("output", 3_000));
  const model = scriptedModel(
    [calls(["big", {}]), calls(["big", {}]), calls(["big", {}]), says("done")].map(
      (answer): Answer =>
        answer.map((event) => (event.type === "end" ? { ...event, usage: undefined } : event)),
    ),
    { contextWindow: 12_000 },
  );
  const { session, updates } = await talk({ ...setup, tools: [big], models: [model] });
  await session.prompt("work").result;
  assert.deepEqual(compactions(updates), []);
  assert.match(
    JSON.stringify(updates),
    /the output of \d earlier calls? was shortened|of an earlier call was shortened/,
  );
  const told = model.requests[3]?.messages ?? [];
  assertPaired(told);
  assert.match(JSON.stringify(told[2]), /"output xxx.*dropped to save space.*xxx"/, "its ends stay");
});

inEveryVersion(
  "B1 a summary sees the output that could be left out when that would not be enough",
  {},
  async (setup) => {
    const big = customTool("big", async () => long("output", 3_000));
    const answers = [calls(["big", {}]), says(long("one", 10_000)), says("a summary"), says("two")];
    const model = scriptedModel(
      answers.map((answer) =>
        answer.map((event) => (event.type === "end" ? { ...event, usage: undefined } : event)),
      ),
      { contextWindow: 12_000 },
    );
    const { session, updates } = await talk({ ...setup, tools: [big], models: [model] });
    await session.prompt("work").result;
    await session.prompt("more").result;
    assert.deepEqual(compactions(updates), ["in_progress", "completed"]);
    assert.doesNotMatch(JSON.stringify(model.requests[2]?.messages), /dropped to save space/);
    assert.equal(said(updates).endsWith("two"), true);
  },
);

inEveryVersion("B1 compactAt says how full the context may be", {}, async (setup) => {
  for (const [compactAt, expected] of [
    [0.1, ["in_progress", "completed"]],
    [1, []],
  ] as const) {
    const answers = [says(long("one", 25_000)), says("a summary"), says("two")];
    const model = scriptedModel(
      answers.map((answer) =>
        answer.map((event) => (event.type === "end" ? { ...event, usage: undefined } : event)),
      ),
    );
    const { session, updates, end } = await talk({ ...setup, tools: [], models: [model], compactAt });
    await session.prompt("first").result;
    await session.prompt("second").result;
    assert.deepEqual(compactions(updates), expected);
    await end();
  }
});

inEveryVersion(
  "B1 what is too long to be summarised is summarised without tool output",
  {},
  async (setup) => {
    const big = customTool("big", async () => long("output", 3_000));
    const overflow = overflows("the prompt is too long");
    const answers = [calls(["big", {}]), says("one"), overflow, overflow, says("All said."), says("two")];
    const model = scriptedModel(answers);
    const { session } = await talk({ ...setup, tools: [big], models: [model] });
    await session.prompt("work").result;
    await session.prompt("/compact").result;
    const efforts = model.requests.map(({ effort }) => effort);
    assert.deepEqual(efforts.slice(2), ["medium", "none", "none"], "first without thinking");
    assert.match(JSON.stringify(model.requests[4]?.messages[2]), /dropped to save space/);
    await session.prompt("and?").result;
    assert.match(JSON.stringify(model.requests[5]?.messages), /All said/);
  },
);

inEveryVersion("/compact summarises even a short conversation", {}, async (setup) => {
  const model = scriptedModel([says("one"), says("two"), says("We counted."), says("three")]);
  const { session, updates } = await talk({ ...setup, models: [model], tools: [] });
  await session.prompt("first").result;
  await session.prompt("second").result;
  updates.length = 0;
  await session.prompt("/compact").result;
  assert.equal(said(updates), "The conversation was replaced by a summary. Your own messages are kept.");
  assert.equal(thought(updates), "");
  await session.prompt("third").result;
  const told = model.requests[3]?.messages.map(({ role }) => role);
  assert.deepEqual(told, ["user", "user", "user", "user"]);
  assert.match(JSON.stringify(model.requests[3]?.messages[2]), /We counted\./);
});
