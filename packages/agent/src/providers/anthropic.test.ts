// Anthropic's Messages API, against a server on the loopback interface that speaks it.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AnthropicBlock,
  anthropicEvents,
  anthropicFault,
} from "../../test/fake-provider/anthropic-wire.ts";
import {
  ask,
  gate,
  modelAt,
  requestWith,
  testKey,
  textOf,
  withFake,
} from "../../test/fake-provider/asking.ts";
import { type Answer, streamed, streamedInPieces } from "../../test/fake-provider/fake-provider.ts";
import { assistantMessage } from "../model/assistant-message.ts";
import type { ModelEvent, ModelMessage } from "../model/model.ts";
import { costOf } from "../model/tokens.ts";
import { chooseModel } from "./choose-model.ts";

const sonnet = "anthropic/claude-sonnet-5-5";
const hello: AnthropicBlock = { type: "text", pieces: ["Hello"] };
const readTool = {
  name: "read",
  description: "Reads a file",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

function answering(...blocks: readonly AnthropicBlock[]): Answer {
  return streamed(anthropicEvents({ blocks }));
}

test("a request carries the key, the system prompt, the messages and the tools", async () => {
  await withFake([answering(hello)], async (fake) => {
    await ask(modelAt(fake.url, sonnet), { tools: [readTool], maxTokens: 1000 });
    const [request] = fake.requests;
    assert.equal(request?.path, "/v1/messages");
    assert.equal(request?.headers["x-api-key"], testKey);
    assert.equal(request?.headers["anthropic-version"], "2023-06-01");
    assert.equal(request?.body.model, "claude-sonnet-5-5");
    assert.equal(request?.body.max_tokens, 1000);
    assert.equal(request?.body.stream, true);
    assert.equal(request?.body.system[0].text, "You are a test.");
    assert.equal(request?.body.messages[0].content[0].text, "Hello");
    assert.equal(request?.body.tools[0].name, "read");
    assert.deepEqual(request?.body.tools[0].input_schema, readTool.inputSchema);
    assert.equal(anthropicFault(request?.body), undefined);
  });
});

test("text comes as it is written, however slowly, and pings are not part of it", async () => {
  const [first, second] = [gate(), gate()];
  const events = anthropicEvents({ blocks: [{ type: "text", pieces: ["Hel", "lo"] }] });
  const at = events.findIndex((event) => event.includes('"lo"'));
  const slow: Answer = async (exchange) => {
    exchange.open();
    await exchange.write(events.slice(0, at).join(""));
    await first.opened;
    await exchange.write('event: ping\ndata: {"type": "ping"}\n\n: a comment\n\n');
    await exchange.write(events.slice(at).join(""));
    await second.opened;
    exchange.end();
  };
  await withFake([slow], async (fake) => {
    const seen: ModelEvent[] = [];
    for await (const event of modelAt(fake.url, sonnet).stream(requestWith())) {
      seen.push(event);
      if (event.type === "text" && event.text === "Hel") first.open();
    }
    // The end is known from the protocol: the connection is still open.
    assert.deepEqual(seen, [
      { type: "text", text: "Hel" },
      { type: "text", text: "lo" },
      { type: "end", cause: "stop", usage: { input: 10, output: 5 } },
    ]);
    second.open();
  });
});

test("a consumer that stops at the end leaves the connection reusable", async () => {
  const events = anthropicEvents({ blocks: [hello] });
  const endings: Promise<string>[] = [];
  const left = Array.from({ length: 5 }, gate);
  const slow: Answer = async (exchange, index) => {
    exchange.open();
    endings.push(exchange.closed);
    await exchange.write(events.join(""));
    await left[index]!.opened;
    exchange.end();
  };
  await withFake([slow], async (fake) => {
    const model = modelAt(fake.url, sonnet);
    for (const { open } of left) {
      for await (const event of model.stream(requestWith())) if (event.type === "end") break;
      open();
      await endings.at(-1);
    }
    // The client may be a moment behind the server, hence not exactly one.
    const connections = new Set(fake.requests.map(({ clientPort }) => clientPort));
    assert.ok(connections.size < left.length, `${connections.size} connections`);
  });
});

test("thinking and its signature go back as they came, and only to the model that thought it", async () => {
  const thoughts: AnthropicBlock[] = [
    { type: "thinking", pieces: ["Let me ", "see."], signature: "SIG1" },
    { type: "redacted", data: "SECRET" },
    { type: "thinking", pieces: ["More."], signature: "SIG2" },
    hello,
  ];
  await withFake([answering(...thoughts), answering(hello)], async (fake) => {
    const model = modelAt(fake.url, sonnet);
    const answer = assistantMessage();
    for (const event of await ask(model, { effort: "high" })) answer.add(event);
    assert.deepEqual(
      answer.message.content.map((part) => ("text" in part ? part.text : "")),
      ["Let me see.", "", "More.", "Hello"],
    );
    const { messages } = requestWith();
    const next: ModelMessage[] = [...messages, answer.message, ...messages];
    await ask(model, { messages: next, effort: "high" });
    await ask(modelAt(fake.url, "anthropic/claude-opus-5-5"), { messages: next, effort: "high" });
    const sent = fake.requests.map(({ body }) => body);
    assert.deepEqual(sent[0].thinking, { type: "adaptive", display: "summarized" });
    assert.deepEqual(sent[1].messages[1].content, [
      { type: "thinking", thinking: "Let me see.", signature: "SIG1" },
      { type: "redacted_thinking", data: "SECRET" },
      { type: "thinking", thinking: "More.", signature: "SIG2" },
      { type: "text", text: "Hello" },
    ]);
    assert.deepEqual(sent[2].messages[1].content, [{ type: "text", text: "Hello" }]);
  });
});

test("calls arrive in pieces and then whole, in parallel, with and without arguments", async () => {
  const blocks: AnthropicBlock[] = [
    { type: "text", pieces: ["Reading."] },
    { type: "tool", id: "toolu_1", name: "read", json: ["", '{"pa', 'th": "a.', 'ts"}'] },
    { type: "tool", id: "toolu_2", name: "list", json: [] },
    { type: "tool", id: "toolu_3", name: "read", json: ['{"path":"b"}'] },
  ];
  await withFake([answering(...blocks)], async (fake) => {
    const events = await ask(modelAt(fake.url, sonnet), { tools: [readTool] });
    const pieces = events.filter((event) => event.type === "tool_input" && event.id === "toolu_1");
    assert.deepEqual(
      pieces.map((event) => "text" in event && event.text),
      ["", '{"pa', 'th": "a.', 'ts"}'],
    );
    assert.deepEqual(events.slice(-4), [
      { type: "tool_call", id: "toolu_1", name: "read", input: { path: "a.ts" } },
      { type: "tool_call", id: "toolu_2", name: "list", input: {} },
      { type: "tool_call", id: "toolu_3", name: "read", input: { path: "b" } },
      { type: "end", cause: "tool_calls", usage: { input: 10, output: 5 } },
    ]);
  });
});

test("it does not matter where the network cuts the stream", async () => {
  const events = anthropicEvents({
    blocks: [
      { type: "thinking", pieces: ["Grüße, ", "世界 🌍"], signature: "SIG" },
      { type: "text", pieces: ["naïve ", "“quotes” 🙂"] },
      { type: "tool", id: "toolu_1", name: "read", json: ['{"path":', '"ü/世界.ts"', "}"] },
    ],
  });
  await withFake([streamed(events)], async (whole) => {
    const expected = await ask(modelAt(whole.url, sonnet));
    for (const size of [1, 2, 3, 7, 61]) {
      await withFake([streamedInPieces(events, size)], async (fake) => {
        assert.deepEqual(await ask(modelAt(fake.url, sonnet)), expected, `${size} bytes`);
      });
    }
    await withFake([streamedInPieces([events.join("").replaceAll("\n", "\r\n")], 5)], async (fake) => {
      assert.deepEqual(await ask(modelAt(fake.url, sonnet)), expected, "CRLF");
    });
  });
});

test("images go in, of the user and of tools, and so do errors of tools", async () => {
  const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
  const messages: ModelMessage[] = [
    { role: "user", content: [{ type: "text", text: "What is this?" }, image] },
    {
      role: "assistant",
      content: [
        { type: "tool_call", id: "a", name: "read", input: { path: "x.png" } },
        { type: "tool_call", id: "b", name: "read", input: { path: "y" } },
      ],
    },
    {
      role: "tool",
      outcomes: [
        { callId: "a", name: "read", content: [{ type: "text", text: "x.png" }, image], isError: false },
        { callId: "b", name: "read", content: [{ type: "text", text: "no such file" }], isError: true },
      ],
    },
  ];
  await withFake([answering(hello)], async (fake) => {
    await ask(modelAt(fake.url, sonnet), { messages, tools: [readTool] });
    const { body } = fake.requests[0]!;
    assert.equal(anthropicFault(body), undefined);
    const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
    assert.deepEqual(body.messages[0].content[1].source, source);
    const [good, bad] = body.messages[2].content;
    assert.equal(good.tool_use_id, "a");
    assert.deepEqual(good.content[1].source, source);
    assert.equal(bad.is_error, true);
    assert.equal(bad.tool_use_id, "b");
  });
});

test("a model that takes no images is told that one was left out", async () => {
  await withFake([answering(hello)], async (fake) => {
    const models = { "claude-blind": { name: "Blind", takesImages: false } };
    const image = { type: "image", mediaType: "image/png", data: "AA==" } as const;
    const messages: ModelMessage[] = [{ role: "user", content: [image] }];
    await ask(modelAt(fake.url, "anthropic/claude-blind", { models }), { messages });
    assert.equal(
      fake.requests[0]?.body.messages[0].content[0].text,
      "[image left out: Blind does not accept images: choose another model (/model)]",
    );
  });
});

test("usage has what came from the cache and what went into it, and makes the cost", async () => {
  const startUsage = {
    input_tokens: 100,
    cache_creation_input_tokens: 2000,
    cache_read_input_tokens: 30_000,
  };
  const usage = { output_tokens: 50, output_tokens_details: { thinking_tokens: 20 } };
  const events = anthropicEvents({ blocks: [hello], startUsage, usage });
  await withFake([streamed(events)], async (fake) => {
    const model = modelAt(fake.url, sonnet);
    const end = (await ask(model)).at(-1);
    assert.ok(end?.type === "end" && end.usage !== undefined);
    assert.deepEqual(end.usage, {
      input: 32_100,
      output: 50,
      cachedInput: 30_000,
      cacheWrite: 2000,
      thinking: 20,
    });
    // Two dollars a million in and ten out; the cache reads for a tenth and writes for a quarter more.
    const dollars = (100 * 2 + 30_000 * 0.2 + 2000 * 2.5 + 50 * 10) / 1e6;
    assert.ok(Math.abs(costOf(model.facts.price, end.usage)! - dollars) < 1e-12);
  });
});

for (const [stop, cause] of [
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "refusal"],
  ["something_new", "stop"],
] as const) {
  test(`stop_reason ${stop} is ${cause}`, async () => {
    await withFake([streamed(anthropicEvents({ blocks: [hello], stop }))], async (fake) => {
      const events = await ask(modelAt(fake.url, sonnet));
      assert.equal(textOf(events), "Hello");
      assert.deepEqual(events.at(-1), { type: "end", cause, usage: { input: 10, output: 5 } });
    });
  });
}

test("B5 every model on this API has an output limit that holds a file", async () => {
  for (const [id, provider, limit] of [
    ["gateway/glm-5", { kind: "anthropic" }, 32_000],
    ["gateway/kimi", { kind: "anthropic", models: { kimi: { maxOutput: 96_000 } } }, 96_000],
    ["gateway/small", { kind: "anthropic", models: { small: { contextWindow: 30_000 } } }, 10_000],
    ["anthropic/claude-sonnet-4-5", {}, 64_000],
    [sonnet, {}, 128_000],
  ] as const) {
    await withFake(
      [streamed(anthropicEvents({ blocks: [{ type: "text", pieces: ["Hi"] }] }))],
      async (fake) => {
        await ask(modelAt(fake.url, id, provider));
        assert.equal(fake.requests[0]?.body.max_tokens, limit, id);
      },
    );
  }
});

test("a call cut off by max_tokens is dropped; complete ones before it are kept", async () => {
  const blocks: AnthropicBlock[] = [
    { type: "tool", id: "toolu_1", name: "read", json: ['{"path":"a"}'] },
    { type: "tool", id: "toolu_2", name: "write", json: ['{"path":"b","te'] },
  ];
  await withFake([streamed(anthropicEvents({ blocks, stop: "max_tokens" }))], async (fake) => {
    const events = await ask(modelAt(fake.url, sonnet));
    const calls = events.filter(({ type }) => type === "tool_call");
    assert.deepEqual(calls, [{ type: "tool_call", id: "toolu_1", name: "read", input: { path: "a" } }]);
    assert.deepEqual(events.at(-1), { type: "end", cause: "length", usage: { input: 10, output: 5 } });
  });
});

test("arguments that are no JSON come as text, and go back as an object", async () => {
  const blocks: AnthropicBlock[] = [{ type: "tool", id: "toolu_1", name: "read", json: ["{path: a}"] }];
  await withFake([answering(...blocks), answering(hello)], async (fake) => {
    const model = modelAt(fake.url, sonnet);
    const answer = assistantMessage();
    for (const event of await ask(model, { tools: [readTool] })) answer.add(event);
    assert.deepEqual(answer.calls, [{ type: "tool_call", id: "toolu_1", name: "read", input: "{path: a}" }]);
    const outcome = { callId: "toolu_1", name: "read", content: [], isError: true };
    const messages: ModelMessage[] = [
      ...requestWith().messages,
      answer.message,
      { role: "tool", outcomes: [outcome] },
    ];
    await ask(model, { messages, tools: [readTool] });
    const { body } = fake.requests[1]!;
    assert.equal(anthropicFault(body), undefined);
    assert.deepEqual(body.messages[1].content[0].input, { unreadable: "{path: a}" });
  });
});

test("names that the API would refuse are changed on the way out and back on the way in", async () => {
  const names = ["github/create issue", "github_create_issue", "x".repeat(80), `${"x".repeat(80)}y`];
  const tools = names.map((name) => ({ ...readTool, name }));
  const second: Answer = (exchange, index) => {
    const wire = exchange.request.body.tools.map(({ name }: { name: string }) => name);
    const blocks = wire.map((name: string, at: number) => ({ type: "tool", id: `t${at}`, name, json: [] }));
    return streamed(anthropicEvents({ blocks }))(exchange, index);
  };
  await withFake([second], async (fake) => {
    const events = await ask(modelAt(fake.url, sonnet), { tools });
    assert.equal(anthropicFault(fake.requests[0]?.body), undefined);
    const called = events.flatMap((event) => (event.type === "tool_call" ? [event.name] : []));
    assert.deepEqual(called, names);
  });
});

test("B4 the system prompt and the ends of this and the last request are marked for the cache", async () => {
  await withFake([answering(hello)], async (fake) => {
    const { messages } = requestWith();
    const answer: ModelMessage = { role: "assistant", content: [{ type: "text", text: "Hi" }] };
    await ask(modelAt(fake.url, sonnet), {
      messages: [...messages, answer, ...messages, answer, ...messages],
    });
    const { body } = fake.requests[0]!;
    const mark = { type: "ephemeral" };
    assert.deepEqual(body.system[0].cache_control, mark);
    const marks = body.messages.map(
      (message: { content: { cache_control?: unknown }[] }) => message.content[0]?.cache_control,
    );
    assert.deepEqual(marks, [undefined, undefined, mark, undefined, mark]);
  });
});

test("empty texts and empty answers are not sent", async () => {
  await withFake([answering(hello)], async (fake) => {
    const { messages } = requestWith();
    const empty: ModelMessage = { role: "assistant", content: [{ type: "text", text: "" }] };
    await ask(modelAt(fake.url, sonnet), { system: "", messages: [...messages, empty, ...messages] });
    const { body } = fake.requests[0]!;
    assert.equal(anthropicFault(body), undefined);
    assert.equal(body.system, undefined);
    assert.equal(body.messages.length, 1);
  });
});

test("an Anthropic gateway gets a bearer token where only that is set", async () => {
  await withFake([answering(hello)], async (fake) => {
    const env = { ANTHROPIC_AUTH_TOKEN: "gateway-token", ANTHROPIC_BASE_URL: fake.url };
    await ask(chooseModel({}, env)!);
    assert.equal(fake.requests[0]?.path, "/v1/messages");
    assert.equal(fake.requests[0]?.headers.authorization, "Bearer gateway-token");
    assert.equal(fake.requests[0]?.headers["x-api-key"], undefined);
  });
});
