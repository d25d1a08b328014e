// Tests the smoke test of real models with scripted ones: it passes one that does the task, and names what another left out.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelMessage } from "../../src/model/model.ts";
import { type Answer, calls, says, scriptedModel } from "../support/agent-probe.ts";
import { smoke } from "./smoke.ts";

/** The word of the day, as the model has read it. */
function wordIn(messages: readonly ModelMessage[]): string {
  return /The word of the day is (\S+)\./.exec(JSON.stringify(messages))?.[1] ?? "";
}

const answers = (answer: (word: string) => ReturnType<typeof says>): Answer =>
  async function* ({ messages }) {
    yield* answer(wordIn(messages));
  };

test("a model that does the task passes the smoke test", async () => {
  const edit = (word: string) =>
    calls(["edit", { path: "notes.txt", edits: [{ oldText: word, newText: "done" }] }]);
  const script = [calls(["read", { path: "notes.txt" }]), answers(edit), answers(says), answers(says)];
  const { problems, inputTokens } = await smoke(scriptedModel(script));
  assert.deepEqual(problems, []);
  assert.equal(inputTokens, 400);
});

test("a model that only talks fails the smoke test, with what it left out", async () => {
  const { problems } = await smoke(scriptedModel([says("Done!"), says("I do not know.")]));
  assert.deepEqual(problems, ["the file is not as asked for", "the word is in 0 of 2 answers"]);
});
