import assert from "node:assert/strict";
import {
  calls,
  inEveryVersion,
  said,
  says,
  scriptedModel,
  talk,
  thought,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead } from "../../test/support/stub-tools.ts";
import type { ModelMessage } from "../model/model.ts";

const tools = [stubRead];
const again = (count: number) => Array.from({ length: count }, () => calls(["read", { path: "absent" }]));

/** Whether the model was warned, outcome by outcome. */
function warnings(messages: readonly ModelMessage[] = []): boolean[] {
  return messages.flatMap((message) =>
    message.role === "tool"
      ? message.outcomes.map((outcome) => /times with the same outcome/.test(JSON.stringify(outcome)))
      : [],
  );
}

inEveryVersion("B9 a model that repeats a call is told so, then the user is asked", {}, async (setup) => {
  const model = scriptedModel([...again(30), says("never")]);
  const { session, asks, updates } = await talk({ ...setup, tools, models: [model], answers: ["option-0"] });
  assert.equal((await session.prompt("read it").result).stopReason, "end_turn");
  assert.equal(model.requests.length, 6);
  assert.deepEqual(warnings(model.requests[5]?.messages), [false, false, true, true, true]);
  assert.match(JSON.stringify(model.requests[3]?.messages), /made this call 3 times/);
  assert.match(asks[0]?.title ?? "", /made the same call 6 times with the same outcome\. Let it continue\?/);
  assert.deepEqual(
    asks[0]?.options.map(({ name }) => name),
    ["Stop here", "Continue", "No answer"],
  );
  assert.match(said(updates), /I stopped because I was making the same call again and again/);
});

inEveryVersion("B9 a user who lets it go on is asked again after six more", {}, async (setup) => {
  const model = scriptedModel([...again(11), says("done"), ...again(2), says("done")]);
  const link = await talk({ ...setup, tools, models: [model], answers: ["option-1"] });
  assert.equal((await link.session.prompt("read it").result).stopReason, "end_turn");
  assert.equal(said(link.updates), "done");
  assert.equal(link.asks.length, 1);
  await link.session.prompt("once more").result;
  assert.equal(link.asks.length, 1, "another turn begins anew");
});

inEveryVersion("B9 a cycle of calls is a repetition, in one answer or in many", {}, async (setup) => {
  const read = (path: string) => ["read", { path }] as const;
  for (const answers of [
    Array.from({ length: 8 }, () => [calls(read("a")), calls(read("b")), calls(read("c"))]).flat(),
    Array.from({ length: 8 }, () => calls(read("a"), read("b"), read("c"))),
  ]) {
    const model = scriptedModel([...answers, says("never")]);
    const link = await talk({ ...setup, tools, models: [model], answers: ["option-0"] });
    await link.session.prompt("go").result;
    assert.match(link.asks[0]?.title ?? "", /made the same 3 calls 6 times/);
    assert.deepEqual(
      warnings(model.requests.at(-1)?.messages).indexOf(true),
      8,
      "the end of the third round",
    );
    await link.end();
  }
});

inEveryVersion("B9 calls with other arguments or other outcomes are no repetition", {}, async (setup) => {
  let count = 0;
  const poll = customTool("poll", async () => `waited ${count++}`);
  const model = scriptedModel([
    ...Array.from({ length: 10 }, () => calls(["poll", {}])),
    ...Array.from({ length: 10 }, (_, i) => calls(["read", { path: `absent${i}` }])),
    says("done"),
  ]);
  const { session, asks, updates } = await talk({ ...setup, tools: [...tools, poll], models: [model] });
  await session.prompt("wait").result;
  assert.equal(said(updates), "done");
  assert.equal(asks.length, 0);
  assert.ok(!warnings(model.requests.at(-1)?.messages).includes(true));
});

inEveryVersion("B9 a turn ends with a notice when nobody can be asked", {}, async (setup) => {
  const model = scriptedModel([...again(30)]);
  const { session, updates } = await talk({
    ...setup,
    tools,
    models: [model],
    clientDefinition: {
      requestPermission() {
        throw new Error("nobody is here");
      },
    },
  });
  assert.equal((await session.prompt("read it").result).stopReason, "end_turn");
  assert.equal(model.requests.length, 6);
  assert.match(thought(updates) + JSON.stringify(updates), /made the same call 6 times .* was stopped/);
  assert.match(said(updates), /I stopped/);
});

inEveryVersion("B9 what the user writes during a turn begins the count anew", {}, async (setup) => {
  const [repeated = []] = again(1);
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const model = scriptedModel([
    ...again(4),
    async function* () {
      asked.resolve();
      await goOn.promise;
      yield* repeated;
    },
    ...again(5),
    says("done"),
  ]);
  const { session, asks, updates, end } = await talk({ ...setup, tools, models: [model] });
  const turn = session.prompt("read it");
  await asked.promise;
  const steered = session.steer("keep trying, it will appear");
  goOn.resolve();
  await turn;
  await steered;
  assert.deepEqual(asks, [], "ten times, but never six without a message");
  assert.equal(said(updates), "done");
  await end();
});
