import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Answer,
  calls,
  inEveryVersion,
  said,
  says,
  scriptedModel,
  talk,
  thought,
  toolStories,
  toolUpdates,
  written,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead, stubRun, stubWrite } from "../../test/support/stub-tools.ts";
import { ModelError, type ModelMessage } from "../model/model.ts";

const tools = [stubRead, stubWrite, stubRun];

/** Every call has one outcome, right behind the message that made it. */
function assertValid(messages: readonly ModelMessage[]): void {
  for (const [i, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const ids = message.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
    if (ids.length === 0) continue;
    const next = messages[i + 1];
    assert.ok(next?.role === "tool", "outcomes follow their calls");
    assert.deepEqual(
      next.outcomes.map(({ callId }) => callId),
      ids,
    );
  }
}

inEveryVersion(
  "the answer and the thoughts of the model are streamed, with usage and a title",
  {},
  async (setup) => {
    const model = scriptedModel(
      [
        [
          { type: "thinking", text: "hm" },
          { type: "text", text: "Hel" },
          { type: "text", text: "lo." },
          { type: "end", cause: "stop", usage: { input: 900, output: 100 } },
        ],
      ],
      { price: { input: 1, output: 10 } },
    );
    const { session, updates } = await talk({ ...setup, tools, models: [model] });
    const outcome = await session.prompt("Say **hello** to me").result;
    assert.deepEqual(outcome, {
      stopReason: "end_turn",
      usage: { totalTokens: 1_000, inputTokens: 900, outputTokens: 100 },
    });
    assert.equal(said(updates), "Hello.");
    assert.equal(thought(updates), "hm");
    const usage = updates.find(({ sessionUpdate }) => sessionUpdate === "usage_update");
    assert.ok(usage?.sessionUpdate === "usage_update");
    assert.deepEqual([usage.used, usage.size], [1_000, 100_000]);
    assert.ok(
      Math.abs((usage.cost?.amount ?? 0) - 0.0019) < 1e-9,
      "900 at 1 and 100 at 10 dollars a million",
    );
    const titles = updates.flatMap((u) => (u.sessionUpdate === "session_info_update" ? [u.title] : []));
    assert.deepEqual(titles, ["Say hello to me"]);
  },
);

inEveryVersion("a call is run and the model is told what came of it", { "a.txt": "one\n" }, async (setup) => {
  const model = scriptedModel([calls(["read", { path: "a.txt" }]), says("It says one.")]);
  const { session, updates } = await talk({ ...setup, tools, models: [model] });
  const { stopReason } = await session.prompt("read a.txt").result;
  assert.equal(stopReason, "end_turn");
  assert.deepEqual(toolStories(updates), ["Read a.txt: pending > in_progress > completed"]);
  const [start] = toolUpdates(updates);
  assert.equal(start?.kind, "read");
  assert.deepEqual(start?.locations, [{ path: join(setup.cwd, "a.txt"), line: 1 }]);
  assert.deepEqual(start?.rawInput, { path: "a.txt" });
  assert.deepEqual(toolUpdates(updates).at(-1)?.rawOutput, { bytes: 1, told: "one\n" });
  const told = model.requests[1]?.messages.at(-1);
  assert.ok(told?.role === "tool");
  assert.deepEqual(told.outcomes[0]?.content, [{ type: "text", text: "one\n" }]);
  assertValid(model.requests[1]?.messages ?? []);
});

inEveryVersion("calls that only read run at the same time, changes in order", {}, async (setup) => {
  const order: string[] = [];
  const gates = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() };
  const slow = (name: "a" | "b", other: "a" | "b", isReadOnly: boolean) =>
    customTool(
      name,
      async () => {
        order.push(`${name} begins`);
        gates[name].resolve();
        // a reader waits until the other one has begun too
        if (isReadOnly) await gates[other].promise;
        order.push(`${name} ends`);
        return name;
      },
      isReadOnly,
    );
  const reading = scriptedModel([calls(["a", {}], ["b", {}]), says("done")]);
  const first = await talk({
    ...setup,
    tools: [slow("a", "b", true), slow("b", "a", true)],
    models: [reading],
  });
  assert.equal((await first.session.prompt("go").result).stopReason, "end_turn");
  assert.deepEqual(order.slice(0, 2), ["a begins", "b begins"]);
  order.length = 0;
  const writing = scriptedModel([calls(["a", {}], ["b", {}]), says("done")]);
  const second = await talk({
    ...setup,
    tools: [slow("a", "b", false), slow("b", "a", false)],
    models: [writing],
  });
  assert.equal((await second.session.prompt("go").result).stopReason, "end_turn");
  assert.deepEqual(order, ["a begins", "a ends", "b begins", "b ends"]);
});

inEveryVersion("an invalid call fails with a message for the model", {}, async (setup) => {
  const model = scriptedModel([
    calls(["read", { file: 1 }], ["nothing", {}], ["read", { path: "absent" }]),
    says("I see."),
  ]);
  const { session, updates } = await talk({ ...setup, tools, models: [model] });
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  assert.deepEqual(
    toolStories(updates).map((story) => story.split(" > ").at(-1)),
    ["failed", "failed", "failed"],
  );
  const told = model.requests[1]?.messages.at(-1);
  assert.ok(told?.role === "tool");
  const words = told.outcomes.map(({ content, isError }) => [
    isError,
    content[0]?.type === "text" && content[0].text,
  ]);
  assert.match(String(words[0]?.[1]), /path must be a string/);
  assert.match(String(words[1]?.[1]), /There is no tool "nothing". Available tools: read, write, bash/);
  assert.match(String(words[2]?.[1]), /ENOENT/);
  assert.ok(words.every(([isError]) => isError));
  assertValid(model.requests[1]?.messages ?? []);
});

inEveryVersion("B5 an answer that reached the output limit goes on", {}, async (setup) => {
  const call = written(["write", { path: "a", content: "x" }]).filter(({ type }) => type === "tool_input");
  const cut: Answer = [
    { type: "text", text: "One, " },
    ...call,
    { type: "end", cause: "length", usage: undefined },
  ];
  const model = scriptedModel([cut, says("two."), cut, cut, cut, cut]);
  const { session, updates, asks } = await talk({ ...setup, tools, models: [model] });
  assert.equal((await session.prompt("count").result).stopReason, "end_turn");
  assert.equal(said(updates), "One, two.");
  assert.equal(asks.length, 0, "what was cut off is not run");
  assert.deepEqual(toolStories(updates), ["Write a: pending > failed"]);
  const told = model.requests[1]?.messages ?? [];
  assertValid(told);
  assert.match(JSON.stringify(told.at(-1)), /cut off there\. Continue/);
  assert.equal((await session.prompt("more").result).stopReason, "max_tokens", "not for ever");
  assert.equal(model.requests.length, 6);
});

for (const [cause, stopReason] of [
  ["length", "max_tokens"],
  ["refusal", "refusal"],
] as const) {
  inEveryVersion(`a model that stops with ${cause} ends the turn with ${stopReason}`, {}, async (setup) => {
    const cut: Answer = [
      { type: "text", text: "I" },
      { type: "tool_call", id: "c", name: "write", input: { path: "a", content: "x" } },
      { type: "end", cause, usage: undefined },
    ];
    const model = scriptedModel([cut, says("again")]);
    const { session, asks } = await talk({ ...setup, tools, models: [model] });
    // a length that the user has chosen
    await session.setConfigOption("maxTokens", "1024");
    assert.equal((await session.prompt("go").result).stopReason, stopReason);
    assert.equal(asks.length, 0, "what was cut off is not run");
    await session.prompt("again").result;
    assertValid(model.requests[1]?.messages ?? []);
  });
}

inEveryVersion("a model that never stops calling tools is stopped", { "a.txt": "one" }, async (setup) => {
  const model = scriptedModel(Array.from({ length: 5 }, () => calls(["read", { path: "a.txt" }])));
  const { session } = await talk({ ...setup, tools, models: [model], maxRequests: 3 });
  assert.equal((await session.prompt("go").result).stopReason, "max_turn_requests");
  assert.equal(model.requests.length, 3);
});

inEveryVersion("a failure of the model reaches the user in the model's words", {}, async (setup) => {
  const model = scriptedModel([
    async function* () {
      yield { type: "text", text: "I was" };
      throw new ModelError("rate_limit", "Too many requests: try again in a minute", {
        retryAfterMs: 60_000,
      });
    },
    says("fine"),
  ]);
  const { session } = await talk({ ...setup, tools, models: [model] });
  const { stopReason, error } = await session.prompt("go").result;
  assert.equal(stopReason, "error");
  assert.equal(error?.message, "Too many requests: try again in a minute");
  assert.deepEqual([error?.kind, error?.code], ["rate_limited", -32_065]);
  assert.deepEqual(error?.data, { reason: "rate_limited", retryAfter: 60 });
  assert.equal((await session.prompt("again").result).stopReason, "end_turn");
});

inEveryVersion("the tokens of a turn are those of all its requests", { "a.txt": "1" }, async (setup) => {
  const model = scriptedModel([
    [
      { type: "tool_call", id: "1", name: "read", input: { path: "a.txt" } },
      { type: "end", cause: "tool_calls", usage: { input: 100, output: 20, thinking: 10, cacheWrite: 90 } },
    ],
    [
      { type: "text", text: "One." },
      { type: "end", cause: "stop", usage: { input: 150, output: 5, cachedInput: 100, cacheWrite: 10 } },
    ],
    says("Again."),
  ]);
  const { session } = await talk({ ...setup, tools, models: [model] });
  assert.deepEqual((await session.prompt("go").result).usage, {
    totalTokens: 275,
    inputTokens: 250,
    outputTokens: 25,
    thoughtTokens: 10,
    cachedReadTokens: 100,
    cachedWriteTokens: 100,
  });
  assert.equal((await session.prompt("go").result).usage?.totalTokens, 110, "of this turn only");
});

inEveryVersion("A112 a key that is refused is -32000 with the ways to log in", {}, async (setup) => {
  const model = scriptedModel([
    // biome-ignore lint/correctness/useYield: it fails before it says anything
    async function* () {
      throw new ModelError("auth", "Anthropic did not accept the API key (401).");
    },
  ]);
  const methods = [{ type: "agent" as const, methodId: "key", name: "Key" }];
  const auth = { methods, login: () => undefined, logout: () => undefined };
  const { session } = await talk({ ...setup, tools, models: [model], auth });
  const { error } = await session.prompt("go").result;
  assert.deepEqual([error?.kind, error?.code], ["auth_required", -32_000]);
  assert.equal(error?.message, "Anthropic did not accept the API key (401).");
  assert.match(JSON.stringify(error?.data), /^{"reason":"auth_required","authMethods":\[{.*"name":"Key"/);
});

inEveryVersion("an empty answer of the model is reported to the user", {}, async (setup) => {
  const model = scriptedModel([[{ type: "end", cause: "stop", usage: undefined }]]);
  const { session, updates } = await talk({ ...setup, tools, models: [model] });
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  assert.match(said(updates), /The model gave no answer/);
});

inEveryVersion("a cancel leaves a transcript in which every call has an outcome", {}, async (setup) => {
  const started = Promise.withResolvers<void>();
  const slow = customTool("slow", async ({ signal }) => {
    started.resolve();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return "never";
  });
  const model = scriptedModel([calls(["slow", {}], ["slow", {}]), says("Where were we?")]);
  const { session, updates } = await talk({ ...setup, tools: [slow], models: [model] });
  const prompt = session.prompt("go");
  await started.promise;
  session.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
  await session.prompt("hello?").result;
  const messages = model.requests[1]?.messages ?? [];
  assertValid(messages);
  const told = messages.find(({ role }) => role === "tool");
  assert.match(JSON.stringify(told), /user aborted this call/);
  assert.equal(toolStories(updates).length, 1, "the second call did not begin");
});

inEveryVersion("a cancel while the model speaks keeps what it said", {}, async (setup) => {
  const speaking = Promise.withResolvers<void>();
  const model = scriptedModel([
    async function* ({ signal }) {
      yield { type: "text", text: "Half a sen" };
      speaking.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    says("ok"),
  ]);
  const { session } = await talk({ ...setup, tools, models: [model] });
  const prompt = session.prompt("go");
  await speaking.promise;
  session.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
  await session.prompt("again").result;
  assert.deepEqual(model.requests[1]?.messages[1], {
    role: "assistant",
    content: [{ type: "text", text: "Half a sen" }],
  });
});

inEveryVersion("writes happen, and the diff is in the question", {}, async (setup) => {
  const model = scriptedModel([calls(["write", { path: "b.txt", content: "new\n" }]), says("done")]);
  const { session, asks, updates } = await talk({
    ...setup,
    tools,
    models: [model],
    answers: ["allow_once"],
  });
  await session.prompt("write it").result;
  assert.equal(readFileSync(join(setup.cwd, "b.txt"), "utf8"), "new\n");
  assert.deepEqual(toolStories(updates), ["Write b.txt: pending > in_progress > completed"]);
  const subject = asks[0]?.subject;
  assert.ok(subject?.type === "tool_call");
  assert.equal(subject.toolCall.content?.[0]?.type, "diff");
});
