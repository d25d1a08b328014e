// What one frame draws of a flood, and what is left for the next ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Shown } from "../../../test/support/shown-feed.ts";

/** A clock that goes on by itself, as that of a machine does. */
function ticking(): () => number {
  let now = 0;
  return () => {
    now += 0.5;
    return now;
  };
}

test("one frame draws a bounded part of a flood, and the next ones the rest", () => {
  const shown = new Shown(false, ticking());
  const words = Array.from({ length: 30_000 }, (_, at) => `w${at}`);
  shown.isHeld = true;
  shown.say(words.join(" ")).say("\n\nThe end.\n\n", "n");
  shown.isHeld = false;
  shown.draw();
  assert.ok(shown.isBehind);
  let frames = 1;
  for (let before = 0; shown.isBehind; frames += 1) {
    const size = shown.printed.slice(before).join("\n").length;
    assert.ok(size < 16 * 1024, `${size} characters in one frame`);
    before = shown.printed.length;
    shown.draw();
  }
  assert.ok(frames > 10, `${frames} frames`);
  const all = [...shown.printed, ...shown.tail].join(" ").split(/\s+/);
  assert.ok(all.filter((word) => /^w\d+$/.test(word)).join(" ") === words.join(" "));
  assert.match(shown.tail.join(), /The end/);
});

test("a flood of tool calls is drawn over several frames, in order", () => {
  const shown = new Shown(false, ticking());
  const calls = Array.from({ length: 200 }, (_, at) => ({
    sessionUpdate: "tool_call_update",
    toolCallId: `c${at}`,
    title: `Read file-${at}`,
    kind: "read",
    status: "completed",
  }));
  shown.update(...calls);
  assert.ok(shown.isBehind);
  while (shown.isBehind) shown.draw();
  const read = shown.printed.flatMap((line) => /file-(\d+)/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    read,
    calls.map((_, at) => String(at)),
  );
});

test("the end of a turn prints what the frames have not drawn yet", () => {
  const shown = new Shown(false, ticking());
  const words = Array.from({ length: 10_000 }, (_, at) => `w${at}`);
  shown.say(words.join(" ")).end();
  assert.ok(!shown.isBehind);
  const all = shown.printed.join(" ").split(/\s+/);
  assert.ok(all.filter((word) => /^w\d+$/.test(word)).join(" ") === words.join(" "));
});

test("what nobody could follow is left out, and it says so", () => {
  const shown = new Shown();
  shown.isHeld = true;
  for (let at = 0; at < 300; at += 1) shown.say(`${"word ".repeat(2_000)}\n\n`);
  shown.isHeld = false;
  shown.say("Now **here**");
  while (shown.draw().isBehind);
  assert.match(shown.printed.join("\n"), /… [\d,]+ characters more above/);
  assert.ok(shown.printed.join("").length < 128 * 1024);
  assert.match(shown.tail.join(), /Now here/);
});

test("what a view drops was printed before, and the rest is printed once", () => {
  const shown = new Shown(false, ticking(), 50_000);
  for (let at = 0; at < 2_000; at += 1) {
    shown.call(`c${at}`, { title: `Read file-${at}`, kind: "read", status: "completed" });
    if (at % 50 === 0) shown.say(`Text ${at}.\n\n`, `m${at}`);
    while (shown.isBehind) shown.draw();
  }
  shown.end();
  assert.ok(shown.view.dropped > 1_000, String(shown.view.dropped));
  const read = shown.printed.flatMap((line) => /file-(\d+)/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    read,
    Array.from({ length: 2_000 }, (_, at) => String(at)),
  );
});
