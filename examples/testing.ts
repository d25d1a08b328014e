// Tests an agent in the process of the test.

import assert from "node:assert/strict";
import { agent, client } from "@parley/acp";
import { collect } from "@parley/acp/testing";

const greeter = agent({
  name: "greeter",
  version: "1.0.0",
  async prompt({ tool, say }) {
    const name = await tool({ title: "Look up your name", kind: "read", permission: true }, () => "Ada");
    for (const piece of ["Hello, ", name]) await say(piece);
  },
});

async function turnWith(optionId: string) {
  const app = client({ name: "test", version: "1.0.0", requestPermission: () => optionId });
  const connection = await app.connect(greeter);
  const session = await connection.newSession({ cwd: "/project" });
  const { text, toolCalls, result } = await collect(session.prompt("Good morning"));
  await connection.close();
  return [text, ...toolCalls.map(({ status }) => status), result.stopReason];
}

assert.deepEqual(await turnWith("allow_once"), ["Hello, Ada", "completed", "end_turn"]);
assert.deepEqual(await turnWith("reject_once"), ["", "cancelled", "end_turn"]);
console.log("passed");

// prints:
// passed
