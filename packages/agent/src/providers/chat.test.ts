// Chat Completions, as OpenAI and the servers that imitate it speak it.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ask,
  askInVain,
  gate,
  modelAt,
  once,
  requestWith,
  testClock,
  testKey,
  textOf,
  withFake,
} from "../../test/fake-provider/asking.ts";
import { chatEvents, chatFault, chunk, openaiError } from "../../test/fake-provider/chat-wire.ts";
import {
  type Answer,
  failed,
  sse,
  streamed,
  streamedInPieces,
} from "../../test/fake-provider/fake-provider.ts";
import { assistantMessage } from "../model/assistant-message.ts";
import type { ModelErrorKind, ModelEvent, ModelMessage } from "../model/model.ts";
import type { ProviderConfig } from "./provider-config.ts";

const local = "vllm/qwen3-coder";
const openai = "openai/gpt-4.1";
const chatApi: ProviderConfig = { kind: "openai-chat" };
const tools = [
  { name: "read", description: "Reads a file", inputSchema: { type: "object", properties: {} } },
  { name: "list", description: "Lists files", inputSchema: { type: "object", properties: {} } },
];
const hello = streamed(chatEvents({ text: ["Hel", "lo"] }));

/** Both packages of the SDK that speak it. */
const dialects = [
  { of: "a compatible server", id: local, provider: {} },
  { of: "OpenAI", id: openai, provider: chatApi },
];

for (const { of, id, provider } of dialects) {
  test(`${of}: a request, and text as it is written`, async () => {
    const read = gate();
    const events = chatEvents({ text: ["Hel", "lo"] });
    const at = events.findIndex((event) => event.includes('"lo"'));
    const slow: Answer = async (exchange) => {
      exchange.open();
      await exchange.write(events.slice(0, at).join(""));
      await read.opened;
      await exchange.write(`: keep-alive\n\n${events.slice(at).join("")}`);
      exchange.end();
    };
    await withFake([slow], async (fake) => {
      const seen: ModelEvent[] = [];
      for await (const event of modelAt(fake.url, id, provider).stream(requestWith({ tools }))) {
        seen.push(event);
        read.open();
      }
      assert.equal(textOf(seen), "Hello");
      assert.deepEqual(seen.at(-1), { type: "end", cause: "stop", usage: { input: 10, output: 5 } });
      const [request] = fake.requests;
      assert.equal(request?.path, "/v1/chat/completions");
      assert.equal(request?.headers.authorization, `Bearer ${testKey}`);
      assert.deepEqual(request?.body.stream_options, { include_usage: true });
      assert.equal(request?.body.messages[0].content, "You are a test.");
      assert.equal(request?.body.messages[1].content, "Hello");
      assert.equal(request?.body.tools[0].function.name, "read");
      assert.equal(chatFault(request?.body), undefined);
    });
  });

  test(`${of}: parallel calls whose pieces come in turn, cut anywhere`, async () => {
    const events = chatEvents({
      text: ["Ünd 🙂"],
      calls: [
        { id: "call_1", name: "read", json: ["", '{"pa', 'th":"ü', '.ts"}'] },
        { id: "call_2", name: "list", json: ["{", "}"] },
      ],
    });
    for (const size of [1, 5, 4096]) {
      await withFake([streamedInPieces(events, size)], async (fake) => {
        const seen = await ask(modelAt(fake.url, id, provider), { tools });
        assert.equal(textOf(seen), "Ünd 🙂");
        const pieces = seen.filter((event) => event.type === "tool_input" && event.id === "call_1");
        assert.equal(pieces.map((event) => ("text" in event ? event.text : "")).join(""), '{"path":"ü.ts"}');
        assert.deepEqual(seen.slice(-3), [
          { type: "tool_call", id: "call_1", name: "read", input: { path: "ü.ts" } },
          { type: "tool_call", id: "call_2", name: "list", input: {} },
          { type: "end", cause: "tool_calls", usage: { input: 10, output: 5 } },
        ]);
      });
    }
  });

  test(`${of}: answers of tools, with an image that follows them`, async () => {
    const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    const messages: ModelMessage[] = [
      { role: "user", content: [{ type: "text", text: "Look" }, image] },
      {
        role: "assistant",
        content: [
          { type: "tool_call", id: "a", name: "read", input: { path: "x.png" } },
          { type: "tool_call", id: "b", name: "list", input: {} },
        ],
      },
      {
        role: "tool",
        outcomes: [
          { callId: "a", name: "read", content: [image], isError: false },
          { callId: "b", name: "list", content: [{ type: "text", text: "denied" }], isError: true },
        ],
      },
    ];
    await withFake([hello], async (fake) => {
      const name = id.split("/")[1]!;
      const models = { [name]: { takesImages: true } };
      await ask(modelAt(fake.url, id, { ...provider, models }), { messages, tools });
      const { body } = fake.requests[0]!;
      assert.equal(chatFault(body), undefined);
      const url = "data:image/png;base64,iVBORw0KGgo=";
      assert.equal(body.messages[1].content[1].image_url.url, url);
      assert.deepEqual(
        body.messages.slice(3).map(({ role, tool_call_id }: Record<string, string>) => [role, tool_call_id]),
        [
          ["tool", "a"],
          ["tool", "b"],
          ["user", undefined],
        ],
      );
      assert.equal(body.messages[3].content, "[the image follows]");
      assert.match(body.messages[4].content, /error.*denied/i);
      assert.equal(body.messages[5].content[1].image_url.url, url);
    });
  });

  for (const [answer, cause] of [
    [{ text: ["Hello"], stop: "stop" }, "stop"],
    [{ text: ["Hello"], stop: "length" }, "length"],
    [{ text: ["Hello"], stop: "content_filter" }, "refusal"],
    [{ refusal: ["Hel", "lo"], stop: "stop" }, "refusal"],
    [{ text: ["Hello"], calls: [{ id: "c", name: "list", json: ["{}"] }], stop: "stop" }, "tool_calls"],
    [{ text: ["Hello"], calls: [{ id: "c", name: "read", json: ['{"pa'] }], stop: "length" }, "length"],
  ] as const) {
    test(`${of}: ${JSON.stringify(answer)} ends with ${cause}`, async () => {
      await withFake([streamed(chatEvents(answer))], async (fake) => {
        const seen = await ask(modelAt(fake.url, id, provider), { tools });
        assert.equal(textOf(seen), "Hello");
        assert.deepEqual(seen.at(-1), { type: "end", cause, usage: { input: 10, output: 5 } });
        assert.equal(seen.filter(({ type }) => type === "tool_call").length, cause === "tool_calls" ? 1 : 0);
      });
    });
  }

  test(`${of}: a stream without an end is cut_off, and no call of it is given`, async () => {
    const calls = [{ id: "c", name: "list", json: ["{}"] }];
    const events = chatEvents({ text: ["Hello"], calls, stop: null, usage: null }).slice(0, -1);
    await withFake([streamed(events)], async (fake) => {
      const { error, events: seen } = await askInVain(modelAt(fake.url, id, provider, once()), { tools });
      assert.equal(error.kind, "cut_off");
      assert.equal(textOf(seen), "Hello");
      assert.deepEqual(
        seen.filter(({ type }) => type === "tool_call"),
        [],
      );
    });
  });

  test(`${of}: a cut connection is cut_off, something that is no JSON is told as such`, async () => {
    const told = gate();
    const cut: Answer = async (exchange) => {
      exchange.open();
      await exchange.write(chunk({ content: "Hel" }));
      await told.opened;
      exchange.cut();
    };
    const broken = streamed([chunk({ content: "Hel" }), sse('{"id":"chatcmpl-1","choices":[{"del')]);
    await withFake([cut, broken], async (fake) => {
      const model = modelAt(fake.url, id, provider, once());
      const reading = async (): Promise<void> => {
        for await (const event of model.stream(requestWith())) if (event.type === "text") told.open();
      };
      await assert.rejects(reading(), { kind: "cut_off", message: /was lost/ });
      const { error, events } = await askInVain(model);
      assert.equal(error.kind, "unavailable");
      assert.match(error.message, /cannot be read/);
      assert.equal(textOf(events), "Hel");
    });
  });

  test(`${of}: a cut before the first event is tried again`, async () => {
    const cut: Answer = (exchange) => {
      exchange.open();
      exchange.cut();
    };
    const never: Answer = (exchange) => exchange.cut();
    await withFake([cut, never, hello], async (fake) => {
      assert.equal(textOf(await ask(modelAt(fake.url, id, provider))), "Hello");
      assert.equal(fake.requests.length, 3);
    });
  });

  test(`${of}: an abort closes the connection`, async () => {
    const ended = Promise.withResolvers<string>();
    const endless: Answer = async (exchange) => {
      exchange.open();
      await exchange.write(chunk({ content: "Hel" }));
      ended.resolve(await exchange.closed);
    };
    await withFake([endless], async (fake) => {
      const controller = new AbortController();
      const stream = modelAt(fake.url, id, provider).stream(requestWith({ signal: controller.signal }));
      const reading = async (): Promise<void> => {
        for await (const _ of stream) controller.abort();
      };
      await assert.rejects(reading(), { kind: "aborted" });
      assert.equal(await ended.promise, "gone");
    });
  });

  test(`${of}: an error event is tried again, before anything and in the middle`, async () => {
    const overloaded = sse(openaiError("The server is overloaded", "server_error"));
    await withFake(
      [streamed([overloaded]), hello, streamed([chunk({ content: "Hel" }), overloaded])],
      async (fake) => {
        assert.equal(textOf(await ask(modelAt(fake.url, id, provider))), "Hello");
        const { error, events } = await askInVain(modelAt(fake.url, id, provider, once()));
        assert.equal(error.kind, "unavailable");
        assert.match(error.message, /The server is overloaded/);
        assert.equal(textOf(events), "Hel");
        assert.equal(fake.requests.length, 3);
      },
    );
  });
}

test("Claude behind a gateway is asked to cache the conversation, other models are not", async () => {
  await withFake([hello], async (fake) => {
    for (const id of [
      "openrouter/anthropic/claude-sonnet-5",
      "openrouter/z-ai/glm-5",
      "litellm/claude-opus-5",
    ])
      await ask(modelAt(fake.url, id), { cacheKey: "s1" });
    assert.deepEqual(
      fake.requests.map(({ body }) => body.cache_control),
      [{ type: "ephemeral" }, undefined, { type: "ephemeral" }],
    );
  });
});

interface Case {
  readonly status: number;
  readonly body: unknown;
  readonly kind: ModelErrorKind;
  readonly words: RegExp;
  readonly attempts?: number;
}

/** OpenAI's own, then those of servers that people run. */
const cases: readonly Case[] = [
  {
    status: 400,
    body: openaiError("Invalid value: 'x'.", "invalid_request_error", "invalid_value"),
    kind: "bad_request",
    words: /400: Invalid value: 'x'/,
  },
  {
    status: 400,
    body: openaiError(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      "invalid_request_error",
      "context_length_exceeded",
    ),
    kind: "overflow",
    words: /too long for gpt-4\.1/,
  },
  {
    status: 400,
    body: openaiError("The response was filtered", "invalid_request_error", "content_filter"),
    kind: "refused",
    words: /refused the request/,
  },
  {
    status: 401,
    body: openaiError(
      `Incorrect API key provided: ${testKey.slice(0, 8)}*****cdef. You can find your API key at https://example.test.`,
      "invalid_request_error",
      "invalid_api_key",
    ),
    kind: "auth",
    words: /did not accept the API key .*Set OPENAI_API_KEY/,
  },
  {
    status: 403,
    body: openaiError("Country, region, or territory not supported", "request_forbidden"),
    kind: "auth",
    words: /403: Country/,
  },
  {
    status: 404,
    body: openaiError("The model `gpt-4.1` does not exist", "invalid_request_error", "model_not_found"),
    kind: "bad_request",
    words: /does not know gpt-4\.1/,
  },
  {
    status: 429,
    body: openaiError(
      "Rate limit reached for gpt-4.1 on requests per min (RPM)",
      "requests",
      "rate_limit_exceeded",
    ),
    kind: "rate_limit",
    words: /rate limit of OpenAI is reached/,
    attempts: 3,
  },
  {
    status: 429,
    body: openaiError("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
    kind: "rate_limit",
    words: /no credit left/,
  },
  {
    status: 500,
    body: openaiError("The server had an error", "server_error"),
    kind: "unavailable",
    words: /500: The server had an error/,
    attempts: 3,
  },
  { status: 503, body: "", kind: "unavailable", words: /503: Service Unavailable/, attempts: 3 },
  {
    status: 400,
    body: { object: "error", message: "This model's maximum context length is 4096 tokens.", code: 400 },
    kind: "overflow",
    words: /too long/,
  },
  {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
      },
    },
    kind: "overflow",
    words: /too long/,
  },
  { status: 404, body: { error: 'model "nope" not found' }, kind: "bad_request", words: /does not know/ },
  {
    status: 200,
    body: { error: { message: "Provider returned error", code: 429 } },
    kind: "rate_limit",
    words: /429: Provider returned error/,
    attempts: 3,
  },
];

for (const { status, body, kind, words, attempts = 1 } of cases) {
  test(`${status} ${JSON.stringify(body).slice(0, 70)} is ${kind}, asked ${attempts} times`, async () => {
    await withFake([failed(status, body)], async (fake) => {
      const options = { clock: testClock(), retries: { attempts: 3 } };
      const { error } = await askInVain(modelAt(fake.url, openai, chatApi, options));
      assert.equal(error.kind, kind, error.message);
      assert.match(error.message, words);
      assert.ok(!error.message.includes(testKey.slice(0, 8)), error.message);
      assert.equal(fake.requests.length, attempts);
    });
  });
}

test("a server that thinks gets its thoughts back, one that does not say its usage has none", async () => {
  const thinking = chatEvents({ thinking: ["Let me ", "see."], text: ["Hello"], usage: null });
  await withFake([streamed(thinking), hello], async (fake) => {
    const model = modelAt(fake.url, local);
    const answer = assistantMessage();
    const events = await ask(model);
    for (const event of events) answer.add(event);
    assert.equal(textOf(events, "thinking"), "Let me see.");
    assert.deepEqual(events.at(-1), { type: "end", cause: "stop", usage: undefined });
    const { messages } = requestWith();
    await ask(model, { messages: [...messages, answer.message, ...messages] });
    assert.equal(fake.requests[1]?.body.messages[2].reasoning_content, "Let me see.");
  });
});

test("usage of a server tells cached and thinking tokens", async () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 80 },
    completion_tokens_details: { reasoning_tokens: 30 },
  };
  await withFake([streamed(chatEvents({ text: ["Hello"], usage }))], async (fake) => {
    const end = (await ask(modelAt(fake.url, openai, chatApi))).at(-1);
    const expected = { input: 100, output: 50, cachedInput: 80, thinking: 30 };
    assert.deepEqual(end, { type: "end", cause: "stop", usage: expected });
  });
});

test("a server without a key gets none, and is asked which model it has", async () => {
  const list: Answer = (exchange) =>
    exchange.json(200, { object: "list", data: [{ id: "llama-7b" }, { id: "b" }] });
  await withFake([list, hello], async (fake) => {
    const model = modelAt(fake.url, "ollama", { apiKey: "" });
    assert.equal(model.facts.id, "ollama/auto");
    await ask(model);
    await ask(model);
    assert.deepEqual(
      fake.requests.map(({ path }) => path),
      ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"],
    );
    assert.equal(fake.requests[1]?.body.model, "llama-7b");
    assert.equal(fake.requests[1]?.headers.authorization, undefined);
  });
});

test("a server that has no model says so", async () => {
  const empty: Answer = (exchange) => exchange.json(200, { object: "list", data: [] });
  await withFake([empty], async (fake) => {
    const { error } = await askInVain(modelAt(fake.url, "ollama", {}));
    assert.equal(error.kind, "bad_request");
    assert.match(error.message, /Ollama .*lists no model: load one/);
  });
});
