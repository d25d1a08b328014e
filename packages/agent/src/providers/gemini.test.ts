// Gemini's API: the main path and its errors.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ask,
  askInVain,
  modelAt,
  requestWith,
  testClock,
  testKey,
  textOf,
  withFake,
} from "../../test/fake-provider/asking.ts";
import { type Answer, failed, streamed, streamedInPieces } from "../../test/fake-provider/fake-provider.ts";
import { geminiError, geminiEvents } from "../../test/fake-provider/gemini-wire.ts";
import { assistantMessage } from "../model/assistant-message.ts";
import type { ModelMessage } from "../model/model.ts";

const argon = "google/gemini-4-argon";
const tools = [{ name: "fs/read", description: "Reads", inputSchema: { type: "object", properties: {} } }];
const usage = { input: 10, output: 5, cachedInput: 4, thinking: 2 };

test("thoughts, text and calls come in order, and go back with their signatures", async () => {
  const first = geminiEvents([
    { text: "Let me see.", thought: true },
    { text: "Hel" },
    { text: "lo" },
    { functionCall: { name: "fs_read", args: { path: "ü" } }, thoughtSignature: "SIG" },
    { functionCall: { name: "fs_read", args: {} } },
  ]);
  await withFake([streamedInPieces(first, 9), streamed(geminiEvents([{ text: "Done" }]))], async (fake) => {
    const model = modelAt(fake.url, argon);
    const answer = assistantMessage();
    const events = await ask(model, { tools, effort: "high" });
    for (const event of events) answer.add(event);
    assert.equal(textOf(events, "thinking"), "Let me see.");
    assert.equal(textOf(events), "Hello");
    assert.deepEqual(events.at(-1), { type: "end", cause: "tool_calls", usage });
    assert.deepEqual(
      answer.calls.map(({ name, input }) => [name, input]),
      [
        ["fs/read", { path: "ü" }],
        ["fs/read", {}],
      ],
    );

    const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    const outcomes = answer.calls.map(({ id, name }) => ({
      callId: id,
      name,
      content: [image],
      isError: false,
    }));
    const messages: ModelMessage[] = [
      { role: "user", content: [image, { type: "audio", mediaType: "audio/wav", data: "AA==" }] },
      answer.message,
      { role: "tool", outcomes },
    ];
    assert.equal(textOf(await ask(model, { messages, tools, effort: "high" })), "Done");
    const [, { body, path, headers } = assert.fail()] = fake.requests;
    assert.equal(path, "/v1/models/gemini-4-argon:streamGenerateContent?alt=sse");
    assert.equal(headers["x-goog-api-key"], testKey);
    assert.equal(body.systemInstruction.parts[0].text, "You are a test.");
    assert.equal(body.generationConfig.thinkingConfig.includeThoughts, true);
    assert.equal(body.generationConfig.thinkingConfig.thinkingLevel, "high");
    assert.equal(body.tools[0].functionDeclarations[0].name, "fs_read");
    assert.deepEqual(
      body.contents[0].parts.map(
        ({ inlineData }: { inlineData: { mimeType: string } }) => inlineData.mimeType,
      ),
      ["image/png", "audio/wav"],
    );
    const calls = body.contents[1].parts.filter((part: object) => "functionCall" in part);
    assert.equal(calls[0].thoughtSignature, "SIG");
    assert.match(JSON.stringify(body.contents[2].parts), /iVBORw0KGgo=/);
  });
});

for (const [reason, cause] of [
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "refusal"],
  ["PROHIBITED_CONTENT", "refusal"],
] as const) {
  test(`finishReason ${reason} is ${cause}`, async () => {
    await withFake([streamed(geminiEvents([{ text: "Hello" }], reason))], async (fake) => {
      assert.deepEqual((await ask(modelAt(fake.url, argon))).at(-1), { type: "end", cause, usage });
    });
  });
}

test("a malformed call is tried again, a stream without its end is cut_off", async () => {
  const malformed = streamed(geminiEvents([], "MALFORMED_FUNCTION_CALL"));
  const unfinished = streamed(geminiEvents([{ text: "Hello" }], null));
  await withFake([malformed, unfinished], async (fake) => {
    const twice = { clock: testClock(), retries: { attempts: 2 } };
    const { error, events } = await askInVain(modelAt(fake.url, argon, {}, twice));
    assert.equal(error.kind, "cut_off");
    assert.equal(textOf(events), "Hello");
    assert.equal(fake.requests.length, 2);
  });
});

for (const [code, status, message, kind] of [
  [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "auth"],
  [
    400,
    "INVALID_ARGUMENT",
    "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
    "overflow",
  ],
  [
    400,
    "INVALID_ARGUMENT",
    "Please ensure that function call turn comes immediately after a user turn",
    "bad_request",
  ],
  [403, "PERMISSION_DENIED", "Your API key was reported as leaked.", "auth"],
  [404, "NOT_FOUND", "models/gemini-4-argon is not found for API version v1beta", "bad_request"],
  [503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "unavailable"],
] as const) {
  test(`${code} ${status} "${message.slice(0, 40)}" is ${kind}`, async () => {
    await withFake([failed(code, geminiError(code, status, message))], async (fake) => {
      const { error } = await askInVain(modelAt(fake.url, argon));
      assert.equal(error.kind, kind, error.message);
      assert.match(error.message, new RegExp(`${code}: ${message.slice(0, 20).replaceAll(/[().]/g, ".")}`));
    });
  });
}

test("the delay that Google asks for in the body is kept", async () => {
  const message = "You exceeded your current quota, please check your plan and billing details.";
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3.5s" }];
  const limited = failed(429, geminiError(429, "RESOURCE_EXHAUSTED", message, details));
  await withFake([limited, streamed(geminiEvents([{ text: "Hello" }]))], async (fake) => {
    const clock = testClock();
    await ask(modelAt(fake.url, argon, {}, { clock }));
    assert.deepEqual(clock.waits, [3500]);
  });
});

test("an abort closes the connection", async () => {
  const ended = Promise.withResolvers<string>();
  const endless: Answer = async (exchange) => {
    exchange.open();
    await exchange.write(geminiEvents([{ text: "Hel" }], null).join(""));
    ended.resolve(await exchange.closed);
  };
  await withFake([endless], async (fake) => {
    const controller = new AbortController();
    const reading = async (): Promise<void> => {
      const stream = modelAt(fake.url, argon).stream(requestWith({ signal: controller.signal }));
      for await (const _ of stream) controller.abort();
    };
    await assert.rejects(reading(), { kind: "aborted" });
    assert.equal(await ended.promise, "gone");
  });
});
