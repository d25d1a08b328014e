import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicError, anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import {
  ask,
  askInVain,
  gate,
  modelAt,
  testClock,
  textOf,
  withFake,
} from "../../test/fake-provider/asking.ts";
import { failed, streamed } from "../../test/fake-provider/fake-provider.ts";
import type { ModelWait } from "./model.ts";

const sonnet = "anthropic/claude-sonnet-5-5";
const good = streamed(anthropicEvents({ blocks: [{ type: "text", pieces: ["Hello"] }] }));
const overloaded = failed(529, anthropicError("overloaded_error", "Overloaded"));

function limited(headers: Readonly<Record<string, string>>): ReturnType<typeof failed> {
  return failed(429, anthropicError("rate_limit_error", "Slow down"), headers);
}

test("pauses double, with jitter, up to a bound", async () => {
  for (const [random, waits] of [
    [0, [500, 1000, 2000, 2500]],
    [1, [1000, 2000, 4000, 5000]],
  ] as const) {
    await withFake([overloaded], async (fake) => {
      const clock = testClock(0, random);
      const retries = { attempts: 5, maxMs: 5000 };
      const { error } = await askInVain(modelAt(fake.url, sonnet, {}, { clock, retries }));
      assert.deepEqual(clock.waits, waits);
      assert.match(error.message, /after 5 attempts/);
    });
  }
});

const now = Date.parse("Sun, 15 Nov 2026 10:00:00 GMT");
for (const [headers, ms] of [
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after": "0.25" }, 250],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "Sun, 15 Nov 2026 10:00:09 GMT" }, 9000],
  [{ "retry-after": "Sun, 15 Nov 2026 09:00:00 GMT" }, 0],
  [{ "retry-after-ms": "321.5", "retry-after": "7" }, 321.5],
  [{ "retry-after": "soon" }, 500],
] as const) {
  test(`${JSON.stringify(headers)} is a pause of ${ms} ms`, async () => {
    await withFake([limited(headers), good], async (fake) => {
      const clock = testClock(now);
      assert.equal(textOf(await ask(modelAt(fake.url, sonnet, {}, { clock }))), "Hello");
      assert.deepEqual(clock.waits, [ms]);
    });
  });
}

test("a longer delay than the limit is reported to the user instead of waited for", async () => {
  await withFake([limited({ "retry-after": "3600" })], async (fake) => {
    const clock = testClock();
    const { error } = await askInVain(modelAt(fake.url, sonnet, {}, { clock }));
    assert.deepEqual(clock.waits, []);
    assert.equal(error.kind, "rate_limit");
    assert.equal(error.retryAfterMs, 3_600_000);
    assert.match(error.message, /It asks to wait 3600 s\.$/);
  });
});

test("x-should-retry: false is obeyed", async () => {
  await withFake(
    [failed(529, anthropicError("overloaded_error", "Overloaded"), { "x-should-retry": "false" })],
    async (fake) => {
      await askInVain(modelAt(fake.url, sonnet));
      assert.equal(fake.requests.length, 1);
    },
  );
});

test("the user learns of every pause before it", async () => {
  await withFake([limited({ "retry-after": "7" }), overloaded, good], async (fake) => {
    const waits: ModelWait[] = [];
    await ask(modelAt(fake.url, sonnet), { onWait: (wait) => waits.push(wait) });
    assert.deepEqual(
      waits.map(({ kind, delayMs, attempt }) => [kind, delayMs, attempt]),
      [
        ["rate_limit", 7000, 1],
        ["unavailable", 1000, 2],
      ],
    );
    assert.match(waits[0]!.reason, /rate limit of Anthropic is reached/);
  });
});

test("an abort ends a pause at once, with the real clock", async () => {
  await withFake([limited({ "retry-after": "55" })], async (fake) => {
    const controller = new AbortController();
    const waiting = gate();
    const asking = askInVain(modelAt(fake.url, sonnet, {}, {}), {
      signal: controller.signal,
      onWait: waiting.open,
    });
    await waiting.opened;
    const started = performance.now();
    controller.abort();
    assert.equal((await asking).error.kind, "aborted");
    // The pause would have been 55 s.
    assert.ok(performance.now() - started < 20_000);
    assert.equal(fake.requests.length, 1);
  });
});

test("a short pause with the real clock ends by itself", async () => {
  await withFake([limited({ "retry-after-ms": "1" }), good], async (fake) => {
    assert.equal(textOf(await ask(modelAt(fake.url, sonnet, {}, {}))), "Hello");
  });
});
