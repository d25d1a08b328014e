import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { LiveOutput } from "./live-output.ts";

/** What was written has been sent. */
const sent = () => new Promise((resolve) => setImmediate(resolve));

function live(t: { after(work: () => void): void }, slow = () => Promise.resolve()) {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  const shown: string[] = [];
  const output = new LiveOutput({
    write(bytes) {
      shown.push(Buffer.from(bytes).toString());
      return slow();
    },
  });
  return { output, shown, push: (text: string) => output.push(Buffer.from(text)) };
}

test("output is shown at once, then at most ten times a second, and all of it in the end", async (t) => {
  const { output, shown, push } = live(t);
  for (let i = 0; i < 1_000; i += 1) {
    push(`${i}\n`);
    mock.timers.tick(10);
    await sent();
  }
  await output.end();
  assert.equal(shown.join(""), Array.from({ length: 1_000 }, (_, i) => `${i}\n`).join(""));
  assert.ok(shown.length <= 101, `${shown.length} updates in 10 seconds`);
  assert.equal(shown[0], "0\n");
});

test("a flood is shown in part, within a budget, with a note about the rest", async (t) => {
  const { output, shown, push } = live(t);
  const line = `${"x".repeat(99)}\n`;
  for (let i = 0; i < 1_000; i += 1) {
    push(line.repeat(600));
    mock.timers.tick(20);
    await sent();
  }
  push("the end\n");
  await output.end();
  const bytes = shown.join("").length;
  assert.ok(bytes < 1_000_000, `${bytes} bytes of 60 MB in 20 seconds`);
  assert.match(shown[2] ?? "", /^\r\n\[\d+ bytes not shown\]\r\nx{99}\n/);
  assert.ok(shown.at(-1)?.endsWith("the end\n"));
});

test("a client that reads slowly is waited for", async (t) => {
  const gates: PromiseWithResolvers<void>[] = [];
  const { output, shown, push } = live(t, () => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    return gate.promise;
  });
  push("a");
  for (let i = 0; i < 50; i += 1) {
    push("b");
    mock.timers.tick(1_000);
  }
  assert.deepEqual(shown, ["a"]);
  const ended = output.end();
  gates[0]?.resolve();
  await Promise.resolve();
  setImmediate(() => gates[1]?.resolve());
  await ended;
  assert.deepEqual(shown, ["a", "b".repeat(50)]);
});
