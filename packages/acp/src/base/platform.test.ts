// Tests what a platform that is too old is told.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent } from "../index.ts";
import { spawnTransport } from "../node.ts";
import { memoryPair } from "../transport.ts";

test("a Node that is too old gets a sentence that says which one is needed", (t) => {
  const { withResolvers } = Promise;
  t.after(() => {
    Promise.withResolvers = withResolvers;
  });
  const [side] = memoryPair();
  Reflect.deleteProperty(Promise, "withResolvers");
  const wanted = { message: /^@parley\/acp needs Node 22\.18 or newer, .*; this is Node v\d/ };
  assert.throws(() => agent({ name: "a", version: "1", prompt: () => undefined }).connect(side), wanted);
  assert.throws(() => spawnTransport("true", []), wanted);
  Promise.withResolvers = withResolvers;
});
