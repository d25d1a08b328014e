// OpenAI's Responses API: the main path and its errors.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ask,
  askInVain,
  modelAt,
  once,
  requestWith,
  testClock,
  testKey,
  textOf,
  withFake,
} from "../../test/fake-provider/asking.ts";
import { openaiError } from "../../test/fake-provider/chat-wire.ts";
import {
  type Answer,
  failed,
  sse,
  streamed,
  streamedInPieces,
} from "../../test/fake-provider/fake-provider.ts";
import { responsesEvents } from "../../test/fake-provider/responses-wire.ts";
import { assistantMessage } from "../model/assistant-message.ts";
import type { ModelMessage } from "../model/model.ts";

const sol = "openai/gpt-6.1-sol";
const tools = [{ name: "fs/read", description: "Reads", inputSchema: { type: "object", properties: {} } }];
const usage = { input: 10, output: 5, cachedInput: 4, thinking: 2 };

test("thoughts, text and calls come in order, and go back without being kept at OpenAI", async () => {
  const first = responsesEvents({
    thinking: { id: "rs_1", paragraphs: ["Let me see.", "And more."], encrypted: "ENC" },
    text: ["Hel", "lo"],
    phase: "commentary",
    calls: [
      { id: "call_1", name: "fs_read", json: ['{"pa', 'th":"a"}'] },
      { id: "call_2", name: "fs_read", json: ["{}"] },
    ],
  });
  await withFake(
    [streamedInPieces(first, 7), streamed(responsesEvents({ text: ["Done"] }))],
    async (fake) => {
      const model = modelAt(fake.url, sol);
      const answer = assistantMessage();
      const events = await ask(model, { tools, effort: "high" });
      for (const event of events) answer.add(event);
      assert.equal(textOf(events), "Hello");
      assert.equal(textOf(events, "thinking"), "Let me see.\n\nAnd more.");
      assert.deepEqual(events.slice(-3), [
        { type: "tool_call", id: "call_1", name: "fs/read", input: { path: "a" } },
        { type: "tool_call", id: "call_2", name: "fs/read", input: {} },
        { type: "end", cause: "tool_calls", usage },
      ]);

      const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
      const outcomes = [
        {
          callId: "call_1",
          name: "fs/read",
          content: [{ type: "text", text: "text" } as const],
          isError: false,
        },
        { callId: "call_2", name: "fs/read", content: [image], isError: false },
      ];
      const messages: ModelMessage[] = [
        ...requestWith().messages,
        answer.message,
        { role: "tool", outcomes },
      ];
      assert.equal(textOf(await ask(model, { messages, tools, effort: "high", cacheKey: "s1" })), "Done");
      const [, { body, path, headers } = assert.fail()] = fake.requests;
      assert.equal(path, "/v1/responses");
      assert.equal(headers.authorization, `Bearer ${testKey}`);
      assert.equal(body.store, false);
      assert.equal(body.prompt_cache_key, "s1", "B4");
      assert.deepEqual(body.include, ["reasoning.encrypted_content"]);
      assert.equal(body.reasoning.effort, "high");
      assert.equal(body.tools[0].name, "fs_read");
      assert.equal(body.tools[0].strict, false);
      const kinds = body.input.map((item: Record<string, unknown>) => item["type"] ?? item["role"]);
      assert.deepEqual(kinds.slice(-6), [
        "reasoning",
        "assistant",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
      ]);
      const [reasoning, said] = body.input.slice(-6);
      assert.equal(reasoning.encrypted_content, "ENC");
      assert.equal(reasoning.summary[0].text, "Let me see.\n\nAnd more.");
      assert.equal(said.phase, "commentary");
      assert.match(JSON.stringify(body.input.at(-1).output), /data:image\/png;base64,iVBORw0KGgo=/);
    },
  );
});

for (const [answer, cause] of [
  [{ text: ["Hello"] }, "stop"],
  [{ text: ["Hello"], incomplete: "max_output_tokens" }, "length"],
  [{ text: ["Hello"], incomplete: "content_filter" }, "refusal"],
  [{ refusal: "Hello" }, "refusal"],
] as const) {
  test(`${JSON.stringify(answer)} ends with ${cause}`, async () => {
    await withFake([streamed(responsesEvents(answer))], async (fake) => {
      const events = await ask(modelAt(fake.url, sol));
      assert.equal(textOf(events), "Hello");
      assert.deepEqual(events.at(-1), { type: "end", cause, usage });
    });
  });
}

test("a stream without its end is cut_off", async () => {
  await withFake([streamed(responsesEvents({ text: ["Hello"] }).slice(0, -1))], async (fake) => {
    const { error, events } = await askInVain(modelAt(fake.url, sol, {}, once()));
    assert.equal(error.kind, "cut_off");
    assert.equal(textOf(events), "Hello");
  });
});

test("errors, as an answer and as an event", async () => {
  const overflow = openaiError(
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "invalid_request_error",
    "context_length_exceeded",
  );
  const limited = failed(429, openaiError("Rate limit reached", "requests", "rate_limit_exceeded"), {
    "retry-after-ms": "1234",
  });
  const event = sse(
    {
      type: "error",
      sequence_number: 0,
      error: { type: "server_error", code: "server_error", message: "Oops", param: null },
    },
    "error",
  );
  const good = streamed(responsesEvents({ text: ["Hello"] }));
  await withFake([failed(400, overflow), limited, streamed([event]), good], async (fake) => {
    const clock = testClock();
    const model = modelAt(fake.url, sol, {}, { clock });
    const { error } = await askInVain(model);
    assert.equal(error.kind, "overflow");
    assert.equal(textOf(await ask(model)), "Hello");
    assert.deepEqual(clock.waits, [1234, 1000]);
  });
});

test("an abort closes the connection", async () => {
  const ended = Promise.withResolvers<string>();
  const events = responsesEvents({ text: ["Hel", "lo"] });
  const endless: Answer = async (exchange) => {
    exchange.open();
    await exchange.write(events.slice(0, 4).join(""));
    ended.resolve(await exchange.closed);
  };
  await withFake([endless], async (fake) => {
    const controller = new AbortController();
    const reading = async (): Promise<void> => {
      const stream = modelAt(fake.url, sol).stream(requestWith({ signal: controller.signal }));
      for await (const _ of stream) controller.abort();
    };
    await assert.rejects(reading(), { kind: "aborted" });
    assert.equal(await ended.promise, "gone");
  });
});

test("a model that does not think is not asked to", async () => {
  await withFake([streamed(responsesEvents({ text: ["Hello"] }))], async (fake) => {
    for (const effort of ["none", "high"] as const)
      await ask(modelAt(fake.url, "openai/gpt-4.1"), { effort });
    for (const { body } of fake.requests) assert.equal(body.reasoning, undefined);
  });
});
