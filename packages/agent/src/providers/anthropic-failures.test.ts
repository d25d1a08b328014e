// Tests failures of Anthropic's Messages API, with the bodies that its servers send.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  anthropicError,
  anthropicErrorEvent,
  anthropicEvents,
} from "../../test/fake-provider/anthropic-wire.ts";
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
import { type Answer, failed, fakeProvider, streamed } from "../../test/fake-provider/fake-provider.ts";
import type { ModelErrorKind, ModelMessage } from "../model/model.ts";

const sonnet = "anthropic/claude-sonnet-5-5";
const events = anthropicEvents({ blocks: [{ type: "text", pieces: ["Hel", "lo"] }] });
const good = streamed(events);
/** Up to and with "Hel". */
const half = events.slice(
  0,
  events.findIndex((event) => event.includes('"lo"')),
);

interface Case {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly kind: ModelErrorKind;
  readonly words: RegExp;
  readonly attempts: number;
}

const cases: readonly Case[] = [
  {
    status: 400,
    type: "invalid_request_error",
    message: "\u001b[2J\u001b[31mred\u001b]0;title\u0007 \u009b1mbad\u0008",
    kind: "bad_request",
    words: /^[ -~]*\(400: red +bad ?\)[ -~]*$/,
    attempts: 1,
  },
  {
    status: 400,
    type: "invalid_request_error",
    message: "messages.0: all messages must have non-empty content",
    kind: "bad_request",
    words: /^Anthropic did not accept the request \(400: messages\.0: all messages/,
    attempts: 1,
  },
  {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 210042 tokens > 200000 maximum",
    kind: "overflow",
    words: /too long for claude-sonnet-5-5 \(400: prompt is too long: 210042 tokens/,
    attempts: 1,
  },
  {
    status: 400,
    type: "invalid_request_error",
    message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
    kind: "overflow",
    words: /too long/,
    attempts: 1,
  },
  {
    status: 400,
    type: "invalid_request_error",
    message: "Your credit balance is too low to access the Anthropic API.",
    kind: "rate_limit",
    words: /has no credit left/,
    attempts: 1,
  },
  {
    status: 401,
    type: "authentication_error",
    message: "invalid x-api-key",
    kind: "auth",
    words:
      /did not accept the API key \(401: invalid x-api-key\)\. Set ANTHROPIC_API_KEY or run: parley agent login/,
    attempts: 1,
  },
  {
    status: 403,
    type: "permission_error",
    message: "Your API key does not have permission to use the specified resource.",
    kind: "auth",
    words: /does not allow this key to use claude-sonnet-5-5/,
    attempts: 1,
  },
  {
    status: 404,
    type: "not_found_error",
    message: "model: claude-sonnet-5-5",
    kind: "bad_request",
    words: /does not know claude-sonnet-5-5 .*Choose another model/,
    attempts: 1,
  },
  {
    status: 413,
    type: "request_too_large",
    message: "Request exceeds the maximum size",
    kind: "overflow",
    words: /too long/,
    attempts: 1,
  },
  {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed your organization's rate limit of 50,000 input tokens per minute",
    kind: "rate_limit",
    words: /rate limit of Anthropic is reached .*\(after 3 attempts\)$/,
    attempts: 3,
  },
  {
    status: 500,
    type: "api_error",
    message: "Internal server error",
    kind: "unavailable",
    words: /cannot answer now \(500: Internal server error\)\. \(after 3 attempts\)/,
    attempts: 3,
  },
  {
    status: 529,
    type: "overloaded_error",
    message: "Overloaded",
    kind: "unavailable",
    words: /cannot answer now \(529: Overloaded\)/,
    attempts: 3,
  },
];

test("arguments that no model can write end the answer, once and with a reason", async () => {
  const json = [
    '{"a":"',
    ..."x"
      .repeat(17)
      .split("")
      .map((letter) => letter.repeat(1024 * 1024)),
    '"}',
  ];
  const large = anthropicEvents({ blocks: [{ type: "tool", id: "t", name: "write", json }] });
  await withFake([streamed(large)], async (fake) => {
    const { error } = await askInVain(modelAt(fake.url, sonnet, {}, thrice));
    assert.equal(error.kind, "bad_request");
    assert.match(
      error.message,
      /is not used: the arguments of its calls have more than 16 million characters/,
    );
    assert.equal(fake.requests.length, 1);
  });
});

const thrice = { clock: testClock(), retries: { attempts: 3 } };

for (const { status, type, message, kind, words, attempts } of cases) {
  test(`${status} ${type} "${message.slice(0, 40)}" is ${kind}, asked ${attempts} times`, async () => {
    await withFake([failed(status, anthropicError(type, message))], async (fake) => {
      const { error, events } = await askInVain(modelAt(fake.url, sonnet, {}, thrice));
      assert.equal(error.kind, kind);
      assert.match(error.message, words);
      assert.deepEqual(events, []);
      assert.equal(fake.requests.length, attempts);
    });
  });
}

test("a temporary failure is invisible to the user", async () => {
  const overloaded = failed(529, anthropicError("overloaded_error", "Overloaded"));
  const cut: Answer = (exchange) => exchange.cut();
  const early = streamed([anthropicErrorEvent("overloaded_error", "Overloaded")]);
  await withFake([overloaded, cut, early, good], async (fake) => {
    const clock = testClock();
    const events = await ask(modelAt(fake.url, sonnet, {}, { clock }));
    assert.equal(textOf(events), "Hello");
    assert.deepEqual(clock.waits, [500, 1000, 2000]);
  });
});

test("an error in the middle of an answer is told, and the model is asked again", async () => {
  const overloaded = streamed([...half, anthropicErrorEvent("overloaded_error", "Overloaded")]);
  await withFake([overloaded], async (fake) => {
    const { error, events } = await askInVain(modelAt(fake.url, sonnet, {}, once()));
    assert.equal(textOf(events), "Hel");
    assert.equal(error.kind, "unavailable");
    assert.match(error.message, /Overloaded/);
  });
  await withFake([overloaded, good], async (fake) => {
    const clock = testClock();
    const events = await ask(modelAt(fake.url, sonnet, {}, { clock }));
    assert.deepEqual(
      events.map((event) => (event.type === "text" ? event.text : event.type)),
      ["Hel", "interrupted", "Hel", "lo", "end"],
    );
    assert.deepEqual(clock.waits, [500]);
    // nothing of the half answer goes back to the model
    assert.deepEqual(fake.requests[1]?.body.messages, fake.requests[0]?.body.messages);
  });
});

test("an answer that always breaks off ends after as many attempts as any other failure", async () => {
  await withFake([streamed(half)], async (fake) => {
    const { error } = await askInVain(modelAt(fake.url, sonnet, {}, thrice));
    assert.equal(error.kind, "cut_off");
    assert.match(error.message, /after 3 attempts/);
    assert.equal(fake.requests.length, 3);
  });
});

test("a connection that is cut in the middle of an answer is cut_off", async () => {
  const cut: Answer = async (exchange) => {
    exchange.open();
    await exchange.write(half.join(""));
    await told.opened;
    exchange.cut();
  };
  const told = gate();
  await withFake([cut], async (fake) => {
    const stream = modelAt(fake.url, sonnet, {}, once()).stream(requestWith());
    await assert.rejects(
      async () => {
        for await (const event of stream) if (event.type === "text") told.open();
      },
      { name: "ModelError", kind: "cut_off", message: /was lost/ },
    );
  });
});

test("an answer without its end is cut_off, and no call of it is given", async () => {
  const call = anthropicEvents({
    blocks: [{ type: "tool", id: "toolu_1", name: "delete", json: ['{"path":"a"}'] }],
  });
  await withFake([streamed(call.slice(0, -2))], async (fake) => {
    const { error, events } = await askInVain(modelAt(fake.url, sonnet, {}, thrice));
    assert.equal(error.kind, "cut_off");
    assert.match(error.message, /was interrupted: the stream ended too early/);
    assert.deepEqual(
      events.filter(({ type }) => type === "tool_call"),
      [],
    );
  });
});

test("a stream that ends before anything was said is tried again", async () => {
  await withFake([streamed(events.slice(0, 2)), streamed([]), good], async (fake) => {
    assert.equal(textOf(await ask(modelAt(fake.url, sonnet))), "Hello");
  });
});

test("an event that is not JSON is reported as such", async () => {
  const broken = 'event: content_block_delta\ndata: {"type":"content_block_de\n\n';
  await withFake([streamed([...half, broken]), streamed([broken]), good], async (fake) => {
    const { error, events } = await askInVain(modelAt(fake.url, sonnet, {}, once()));
    assert.equal(textOf(events), "Hel");
    assert.equal(error.kind, "unavailable");
    assert.match(error.message, /sent an answer that cannot be read/);
    // It is tried again.
    assert.equal(textOf(await ask(modelAt(fake.url, sonnet))), "Hello");
    assert.equal(fake.requests.length, 3);
  });
});

test("a provider that cannot be reached is named with its address", async () => {
  const fake = await fakeProvider(good);
  await fake.close();
  const { error } = await askInVain(modelAt(fake.url, sonnet, {}, thrice));
  assert.equal(error.kind, "unavailable");
  assert.match(
    error.message,
    /^Anthropic cannot be reached at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. \(after 3 attempts\)$/,
  );
});

test("a web page instead of an answer is reported as a wrong address", async () => {
  const page: Answer = (exchange) => exchange.text(200, "<html><h1>Welcome</h1></html>", "text/html");
  const proxy: Answer = (exchange) => exchange.text(502, "<html><h1>Bad gateway</h1></html>", "text/html");
  await withFake([page, proxy], async (fake) => {
    const first = await askInVain(modelAt(fake.url, sonnet));
    assert.equal(first.error.kind, "bad_request");
    assert.match(first.error.message, /answered with a web page/);
    const second = await askInVain(modelAt(fake.url, sonnet, {}, thrice));
    assert.equal(second.error.kind, "unavailable");
    assert.match(second.error.message, /502: Bad Gateway/);
  });
});

test("TH14 a redirect is not followed: neither key nor conversation reach another host", async () => {
  await withFake([good], async (other) => {
    for (const status of [301, 302, 307, 308]) {
      const location = `${other.url}/messages?from=here`;
      await withFake([failed(status, {}, { location })], async (fake) => {
        const { error } = await askInVain(modelAt(fake.url, sonnet, {}, thrice));
        assert.equal(error.kind, "bad_request");
        assert.match(error.message, /redirect to 127\.0\.0\.1:\d+, which is not followed\. .*baseUrl/);
        assert.equal(fake.requests.length, 1);
      });
    }
    assert.deepEqual(other.requests, []);
  });
});

test("an abort before the answer reaches the server and is not reported as a provider error", async () => {
  const arrived = gate();
  const ended = Promise.withResolvers<string>();
  const silent: Answer = async (exchange) => {
    arrived.open();
    ended.resolve(await exchange.closed);
  };
  await withFake([silent], async (fake) => {
    const controller = new AbortController();
    const asking = askInVain(modelAt(fake.url, sonnet), { signal: controller.signal });
    await arrived.opened;
    controller.abort();
    assert.equal((await asking).error.kind, "aborted");
    assert.equal(await ended.promise, "gone");
    assert.equal(fake.requests.length, 1);
  });
});

test("an abort in the middle of an answer, and a reader that leaves, close the connection", async () => {
  const ends: Promise<string>[] = [];
  const endless: Answer = async (exchange) => {
    exchange.open();
    ends.push(exchange.closed);
    await exchange.write(half.join(""));
  };
  await withFake([endless], async (fake) => {
    const model = modelAt(fake.url, sonnet);
    const controller = new AbortController();
    await assert.rejects(
      async () => {
        for await (const event of model.stream(requestWith({ signal: controller.signal }))) {
          if (event.type === "text") controller.abort();
        }
      },
      { kind: "aborted" },
    );
    assert.equal(await ends[0], "gone");
    for await (const event of model.stream(requestWith())) if (event.type === "text") break;
    assert.equal(await ends[1], "gone");
  });
});

test("an abort before the request sends nothing", async () => {
  await withFake([good], async (fake) => {
    const { error } = await askInVain(modelAt(fake.url, sonnet), { signal: AbortSignal.abort() });
    assert.equal(error.kind, "aborted");
    assert.equal(fake.requests.length, 0);
  });
});

test("no key is in an error, however it is printed, also when the provider repeats it", async () => {
  const message = `invalid x-api-key ${testKey}, gateway-secret-value; try Bearer abcdefghijkl or sk-ant-api03-other_key-123456`;
  await withFake([failed(401, anthropicError("authentication_error", message))], async (fake) => {
    const headers = { "x-gateway-secret": "gateway-secret-value" };
    const { error } = await askInVain(modelAt(fake.url, sonnet, { headers }));
    const printed = `${inspect(error, { depth: 12, showHidden: true })} ${JSON.stringify(error)} ${error.stack}`;
    for (const secret of [testKey, "abcdefghijkl", "api03", "gateway-secret-value"]) {
      assert.ok(!printed.includes(secret), secret);
    }
    // Nor is what the user said: errors end up in logs.
    assert.ok(!printed.includes("Hello"));
  });
});

test("thinking that the provider refuses after a compaction is left out", async () => {
  const refusal = failed(
    400,
    anthropicError("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
  );
  await withFake([refusal, good], async (fake) => {
    const { messages } = requestWith();
    const signature = JSON.stringify({ model: sonnet, signature: "OLD" });
    const thought: ModelMessage = {
      role: "assistant",
      content: [
        { type: "thinking", text: "Hm.", signature },
        { type: "text", text: "Hi" },
      ],
    };
    const events = await ask(modelAt(fake.url, sonnet), { messages: [...messages, thought, ...messages] });
    assert.equal(textOf(events), "Hello");
    const sent = fake.requests.map(({ body }) =>
      body.messages[1].content.map(({ type }: { type: string }) => type),
    );
    assert.deepEqual(sent, [["thinking", "text"], ["text"]]);
  });
});
