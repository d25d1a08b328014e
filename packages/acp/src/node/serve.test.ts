// Tests what serveStdio refuses before it touches stdio.

import assert from "node:assert/strict";
import { test } from "node:test";
import { client } from "../index.ts";
import { serveStdio } from "../node.ts";

test("serveStdio of a definition, or of nothing, says to call agent() first", async () => {
  const who = { name: "n", version: "1" };
  for (const [given, got] of [
    [{ ...who, prompt: () => undefined }, "an object"],
    [client(who), "an object"],
    [undefined, "nothing"],
  ] as const) {
    await assert.rejects(serveStdio(given as never), {
      name: "TypeError",
      message: `serveStdio: expected an agent that agent() has made, got ${got}; call serveStdio(agent({ name, version, prompt }))`,
    });
  }
});
