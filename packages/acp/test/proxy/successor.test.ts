// A chain of agents: one prompts the agent behind it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, type Edition } from "../../src/index.ts";
import { conductor } from "../../src/proxy.ts";
import { memoryPair } from "../../src/transport/memory.ts";

for (const edition of ["v1", "v2"] as const satisfies readonly Edition[]) {
  test(`an agent prompts the agent behind it, whose work and questions reach the client (${edition})`, async () => {
    const asked: string[] = [];
    const worker = agent({
      name: "worker",
      version: "1",
      async prompt(turn) {
        asked.push(turn.text);
        const allowed = await turn.requestPermission("May I work?");
        await turn.tool({ title: "Work", kind: "other" }, () => "done");
        await turn.say(`worked: ${allowed?.optionId}`);
      },
    });
    const lead = agent({
      name: "lead",
      version: "1",
      async prompt(turn) {
        assert.ok(turn.successor);
        await turn.say("I ask the worker. ");
        const first = await turn.successor.prompt(`do ${turn.text}`);
        let heard = "";
        await turn.successor.prompt("quietly", {
          show: false,
          onUpdate: (update) => {
            if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
              heard += update.content.text;
          },
        });
        await turn.say(` It ended with ${first.stopReason}, then said: ${heard}.`);
      },
    });
    const [near, far] = memoryPair();
    const chain = conductor([lead, worker]);
    chain.connect(far);
    const app = client({
      name: "app",
      version: "1",
      editions: [edition],
      requestPermission: ({ options }) => options[0]?.optionId,
    });
    await using connection = await app.connect(near);
    const session = await connection.newSession({ cwd: "/" });
    let said = "";
    const tools: string[] = [];
    session.onUpdate((update) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        said += update.content.text;
      if (update.sessionUpdate === "tool_call_update" && update.title) tools.push(update.title);
    });
    const { stopReason } = await session.prompt("it");
    assert.equal(stopReason, "end_turn");
    assert.deepEqual(asked, ["do it", "quietly"]);
    assert.equal(
      said,
      "I ask the worker. worked: allow_once It ended with end_turn, then said: worked: allow_once.",
    );
    assert.deepEqual([...new Set(tools)], ["Work"]);
    await chain.close();
  });
}

test("without an agent behind it, an agent has no successor", async () => {
  let found: unknown = "nothing";
  const alone = agent({
    name: "alone",
    version: "1",
    prompt(turn) {
      found = turn.successor;
    },
  });
  const [near, far] = memoryPair();
  alone.connect(far);
  await using connection = await client({ name: "app", version: "1" }).connect(near);
  await (await connection.newSession({ cwd: "/" })).prompt("x");
  assert.equal(found, undefined);
});
