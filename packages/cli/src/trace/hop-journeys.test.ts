// Tests that messages of a recorded chain are followed from hop to hop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type HopRecord, Journeys } from "./hop-journeys.ts";

const hops = ["the client > p", "p > the agent"];

function recorded() {
  const journeys = new Journeys();
  let record = 0;
  const seen = (place: number, message: object): HopRecord => ({
    record: ++record,
    ms: record,
    from: "client",
    hop: hops[place] ?? "",
    place,
    message: { jsonrpc: "2.0", ...message },
  });
  return { journeys, add: (place: number, message: object) => journeys.add(seen(place, message)) };
}

const note = (words: string) => ({ method: "_acme/note", params: { sessionId: "s", words } });

test("a message is matched by its params, else with the message seen just before it, else by order", () => {
  const { journeys, add } = recorded();
  add(0, note("dropped"));
  add(0, note("one"));
  add(0, note("two"));
  add(1, note("two"));
  add(0, note("three"));
  add(1, note("3"));
  add(1, note("0 or 1"));
  const words = journeys.all.map(({ seen }) =>
    seen.map(({ message }) => (message["params"] as { words: string }).words),
  );
  assert.deepEqual(words, [["dropped", "0 or 1"], ["one"], ["two", "two"], ["three", "3"]]);
});

test("the work grows linearly with the trace, even if a component drops messages", (t) => {
  const counted = t.mock.method(JSON, "stringify");
  const { journeys, add } = recorded();
  const count = 2_000;
  for (let i = 0; i < count; i++) {
    add(0, note(`dropped ${i}`));
    add(0, note(`changed ${i}`));
    add(0, note("between"));
    add(1, note(`to ${i}`));
    add(1, note("between"));
  }
  assert.equal(journeys.all.length, 3 * count);
  assert.ok(counted.mock.callCount() <= 5 * 5 * count, `${counted.mock.callCount()} calls`);
});
