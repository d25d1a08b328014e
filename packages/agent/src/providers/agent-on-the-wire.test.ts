// Tests the whole agent from the client's prompt to the provider's bytes and back, in four wire formats.

import assert from "node:assert/strict";
import { anthropicError, anthropicEvents, anthropicFault } from "../../test/fake-provider/anthropic-wire.ts";
import { gate, modelAt, testClock, withFake } from "../../test/fake-provider/asking.ts";
import { chatEvents, chatFault, openaiError } from "../../test/fake-provider/chat-wire.ts";
import { type Answer, failed, streamed } from "../../test/fake-provider/fake-provider.ts";
import { geminiEvents } from "../../test/fake-provider/gemini-wire.ts";
import { responsesEvents } from "../../test/fake-provider/responses-wire.ts";
import { inEveryVersion, said, talk, thought, toolStories } from "../../test/support/agent-probe.ts";

interface Wire {
  readonly id: string;
  /** Thinks, says "Reading." and reads a.txt and b.txt, which is not there. */
  readonly reading: readonly string[];
  readonly saying: (text: string) => readonly string[];
  readonly fault: (body: never) => string | undefined;
  /** How it says that something is wrong with a request. */
  readonly refusal: (reason: string) => object;
}

const read = (id: string, path: string): { id: string; name: string; json: string[] } => ({
  id,
  name: "read",
  json: ['{"path":', JSON.stringify(path), "}"],
});
const calls = [read("call_a", "a.txt"), read("call_b", "b.txt")];

const wires: readonly Wire[] = [
  {
    id: "anthropic/claude-sonnet-5-5",
    reading: anthropicEvents({
      blocks: [
        { type: "thinking", pieces: ["Let me ", "see."], signature: "SIG" },
        { type: "text", pieces: ["Reading."] },
        ...calls.map((call) => ({ type: "tool" as const, ...call })),
      ],
    }),
    saying: (text) => anthropicEvents({ blocks: [{ type: "text", pieces: [text] }] }),
    fault: anthropicFault,
    refusal: (reason) => anthropicError("invalid_request_error", reason),
  },
  {
    id: "vllm/qwen3-coder",
    reading: chatEvents({ thinking: ["Let me ", "see."], text: ["Reading."], calls }),
    saying: (text) => chatEvents({ text: [text] }),
    fault: chatFault,
    refusal: (reason) => openaiError(reason, "invalid_request_error"),
  },
  {
    id: "openai/gpt-6.1-sol",
    reading: responsesEvents({
      thinking: { id: "rs_1", paragraphs: ["Let me see."], encrypted: "SIG" },
      text: ["Reading."],
      calls,
    }),
    saying: (text) => responsesEvents({ text: [text] }),
    fault: () => undefined,
    refusal: (reason) => openaiError(reason, "invalid_request_error"),
  },
  {
    id: "google/gemini-4-argon",
    reading: geminiEvents([
      { text: "Let me see.", thought: true, thoughtSignature: "SIG" },
      { text: "Reading." },
      ...calls.map(({ name, json }) => ({ functionCall: { name, args: JSON.parse(json.join("")) } })),
    ]),
    saying: (text) => geminiEvents([{ text }]),
    fault: () => undefined,
    refusal: (reason) => ({ error: { code: 400, status: "INVALID_ARGUMENT", message: reason } }),
  },
];

for (const wire of wires) {
  const checked =
    (answer: Answer): Answer =>
    (exchange, index) => {
      const fault = wire.fault(exchange.request.body as never);
      return fault === undefined ? answer(exchange, index) : exchange.json(400, wire.refusal(fault));
    };

  inEveryVersion(
    `${wire.id}: a prompt, two calls at once, their outcomes, an answer, another prompt`,
    { "a.txt": "alpha\n" },
    async (setup) => {
      const answers = [wire.reading, wire.saying("It says alpha."), wire.saying("Goodbye.")];
      await withFake(
        answers.map((events) => checked(streamed(events))),
        async (fake) => {
          const { session, updates, end } = await talk({ ...setup, models: [modelAt(fake.url, wire.id)] });
          assert.equal((await session.prompt("What is in a.txt?").result).stopReason, "end_turn");
          assert.equal((await session.prompt("Thanks").result).stopReason, "end_turn");
          assert.equal(said(updates), "Reading.It says alpha.Goodbye.");
          assert.equal(thought(updates), "Let me see.");
          assert.deepEqual(
            toolStories(updates)
              .map((story) => story.split(" > ").at(-1))
              .sort(),
            ["completed", "failed"],
          );
          const [, second, third] = fake.requests.map(({ body }) => JSON.stringify(body));
          assert.match(second!, /alpha/);
          assert.match(second!, /SIG|Let me see/);
          assert.match(third!, /It says alpha.*Thanks/s);
          // A stable beginning is what a provider's cache needs.
          const heads = fake.requests.map(({ body }) =>
            JSON.stringify([body.system ?? body.instructions, body.tools]),
          );
          assert.equal(new Set(heads).size, 1);
          await end();
        },
      );
    },
  );

  inEveryVersion(
    `${wire.id}: a cancel reaches the provider, and the next prompt is taken`,
    {},
    async (setup) => {
      const begun = gate();
      const ended = Promise.withResolvers<string>();
      const endless: Answer = async (exchange) => {
        const events = wire.saying("Half an");
        exchange.open();
        await exchange.write(
          events.slice(0, events.findIndex((event) => event.includes("Half an")) + 1).join(""),
        );
        ended.resolve(await exchange.closed);
      };
      await withFake([endless, checked(streamed(wire.saying("Whole.")))], async (fake) => {
        const { session, updates, end } = await talk({
          ...setup,
          models: [modelAt(fake.url, wire.id)],
        });
        session.onUpdate((update) => {
          if (update.sessionUpdate === "agent_message_chunk") begun.open();
        });
        const prompt = session.prompt("Go");
        await begun.opened;
        prompt.cancel();
        assert.equal((await prompt.result).stopReason, "cancelled");
        assert.equal(await ended.promise, "gone");
        assert.equal((await session.prompt("Again").result).stopReason, "end_turn");
        assert.equal(said(updates), "Half anWhole.");
        await end();
      });
    },
  );
}

inEveryVersion("an overloaded provider is retried, and the user sees why", {}, async (setup) => {
  const [wire] = wires;
  const busy = failed(429, anthropicError("rate_limit_error", "Slow down"), { "retry-after": "7" });
  await withFake([busy, streamed(wire!.saying("Hello."))], async (fake) => {
    const clock = testClock();
    const { session, updates, end } = await talk({
      ...setup,
      models: [modelAt(fake.url, wire!.id, {}, { clock })],
    });
    assert.equal((await session.prompt("Hi").result).stopReason, "end_turn");
    assert.match(thought(updates), /rate limit of Anthropic is reached .*Trying again in 7 s/);
    assert.equal(said(updates), "Hello.");
    assert.deepEqual(clock.waits, [7000]);
    await end();
  });
});

inEveryVersion("a client that shows pauses gets them as facts, and no thought", {}, async (setup) => {
  const [wire] = wires;
  const busy = failed(429, anthropicError("rate_limit_error", "Slow down"), { "retry-after": "7" });
  await withFake([busy, streamed(wire!.saying("Hello."))], async (fake) => {
    const { session, updates, end } = await talk({
      ...setup,
      models: [modelAt(fake.url, wire!.id, {}, { clock: testClock() })],
      clientDefinition: { _meta: { "_parley.dev/retry": true } },
    });
    assert.equal((await session.prompt("Hi").result).stopReason, "end_turn");
    const facts = updates.flatMap((update) =>
      update.sessionUpdate === "session_info_update" && update._meta != null ? [update._meta] : [],
    );
    const [pause, over, ...more] = facts.map((each) => each["_parley.dev/retry"]);
    assert.partialDeepStrictEqual(pause, { attempt: 2, of: 5, delayMs: 7000 });
    assert.match(String((pause as { reason: string }).reason), /rate limit of Anthropic is reached/);
    assert.deepEqual([over, more], [null, []]);
    assert.equal(thought(updates), "");
    assert.equal(said(updates), "Hello.");
    await end();
  });
});
