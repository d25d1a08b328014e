import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ReadingPace } from "./reading-pace.ts";

function reading() {
  const done: string[] = [];
  const clock = { now: 0 };
  const source = { pause: () => done.push("pause"), resume: () => done.push("resume") };
  const pace = new ReadingPace({ source: () => source, now: () => clock.now });
  return { done, clock, pace };
}

test("after some milliseconds of reading, keys have their turn, and then it goes on", async () => {
  const { done, clock, pace } = reading();
  pace.heard();
  clock.now += 2;
  pace.heard();
  assert.deepEqual(done, []);
  clock.now += 2;
  pace.heard();
  pace.heard();
  assert.deepEqual(done, ["pause"]);
  await setImmediate();
  assert.deepEqual(done, ["pause", "resume"]);
  // a new turn has all the time again
  pace.heard();
  assert.deepEqual(done, ["pause", "resume"]);
});

test("an agent is not read while the screen is behind", async () => {
  const { done, clock, pace } = reading();
  pace.hold(true);
  pace.hold(true);
  assert.deepEqual(done, ["pause"]);
  // the next turn does not end it
  pace.heard();
  clock.now += 10;
  pace.heard();
  await setImmediate();
  assert.deepEqual(done, ["pause"]);
  pace.hold(false);
  assert.deepEqual(done, ["pause", "resume"]);
});

test("a screen that draws no more does not hold an agent for good", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { done, pace } = reading();
  pace.hold(true);
  t.mock.timers.tick(400);
  pace.hold(true);
  t.mock.timers.tick(400);
  assert.deepEqual(done, ["pause"]);
  t.mock.timers.tick(200);
  assert.deepEqual(done, ["pause", "resume"]);
});
