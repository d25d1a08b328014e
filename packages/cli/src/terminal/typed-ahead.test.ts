import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { dropTypedAhead } from "./ask-line.ts";

function terminal() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isRaw: false,
    setRawMode(mode: boolean) {
      modes.push(mode);
    },
  });
  return { input, modes };
}

test("what was typed before a question is no answer to it; what is typed afterwards is", async () => {
  const { input, modes } = terminal();
  input.write("1\n");
  input.write("half a li");
  await dropTypedAhead(input, () => assert.fail("nobody interrupts"));
  input.write("2\n");
  const [answer] = await Promise.all([new Promise((resolve) => input.once("data", resolve)), input.resume()]);
  assert.equal(String(answer), "2\n");
  assert.deepEqual(modes, [true, false]);
});

test("a Ctrl-C among it counts", async () => {
  const { input } = terminal();
  let interrupts = 0;
  input.write("1\n\u0003");
  await dropTypedAhead(input, () => interrupts++);
  assert.equal(interrupts, 1);
});
