import assert from "node:assert/strict";
import { test } from "node:test";
import { SilenceWatch } from "./silence-watch.ts";

test("a silence is told 30 seconds after the last entry, and once (U8)", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const told: unknown[] = [];
  const watch = new SilenceWatch({
    isPaused: false,
    options: { onEvent: (event: unknown) => told.push(event) },
  } as never);
  watch.heard();
  t.mock.timers.tick(20_000);
  watch.heard();
  t.mock.timers.tick(29_999);
  assert.deepEqual(told, []);
  t.mock.timers.tick(1);
  assert.deepEqual(told, [{ kind: "quiet", ms: 30_000 }]);
  t.mock.timers.tick(100_000);
  assert.equal(told.length, 1, "once for each silence");
  watch.heard();
  t.mock.timers.tick(30_000);
  assert.equal(told.length, 2);
  watch.end();
  watch.heard();
  t.mock.timers.tick(100_000);
  assert.equal(told.length, 2, "the prompt is over");
});

test("an agent that is not read is not called silent (U8)", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const told: unknown[] = [];
  const agent = { isPaused: true, options: { quietMs: 10, onEvent: (event: unknown) => told.push(event) } };
  const watch = new SilenceWatch(agent as never);
  watch.heard();
  t.mock.timers.tick(10);
  assert.deepEqual(told, []);
  agent.isPaused = false;
  t.mock.timers.tick(10);
  assert.deepEqual(told, [{ kind: "quiet", ms: 10 }]);
  watch.end();
});
