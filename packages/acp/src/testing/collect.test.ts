import assert from "node:assert/strict";
import { inEveryVersion, openSession } from "../../test/support/peer-probe.ts";
import { ConnectionError } from "../index.ts";
import { collect } from "../testing.ts";

inEveryVersion("collect gives what an agent did for a prompt", async (pair) => {
  const { session } = await openSession(pair, {
    async prompt(turn) {
      await turn.think("let me see");
      await turn.say("I look");
      await turn.say(" first.");
      await turn.tool({ title: "Look", kind: "search" }, () => undefined);
      await turn.say("Done.");
      return "max_tokens" as const;
    },
  });
  const { text, thoughts, toolCalls, updates, result } = await collect(session.prompt("go"));
  assert.deepEqual([text, thoughts], ["I look first.\nDone.", "let me see"]);
  assert.deepEqual(
    toolCalls.map(({ title, toolKind, status }) => [title, toolKind, status]),
    [["Look", "search", "completed"]],
  );
  assert.equal(updates.at(-1)?.sessionUpdate, "state_update");
  assert.deepEqual(result, { stopReason: "max_tokens" });
});

inEveryVersion("collect rejects when the connection ends before the prompt does", async (pair) => {
  const begun = Promise.withResolvers<void>();
  const { session, cut } = await openSession(pair, {
    prompt() {
      begun.resolve();
      return new Promise(() => undefined);
    },
  });
  const collected = collect(session.prompt("go"));
  await begun.promise;
  await cut();
  await assert.rejects(collected, ConnectionError);
});
