// Tests going back to an earlier prompt by number, and the commands about the context, line by line.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { chatHome, chatWith, farAgent, patience, promptsIn } from "../../../test/support/chat-probe.ts";
import { PlainCommands } from "./plain-commands.ts";
import type { LineInput } from "./typed-lines.ts";

async function plainly(t: TestContext, answers: readonly string[]) {
  const far = await farAgent(t, { unstable: ["fork"], otherwise: [{ say: "heard {{prompt}}" }] });
  const { cwd } = chatHome(t, { far });
  const chat = chatWith(t, { cwd, agent: "far" });
  const said: string[] = [];
  const put: string[] = [];
  const left = [...answers];
  const lines = { ask: async () => left.shift() } as unknown as LineInput; // what is used
  const plain = new PlainCommands({
    conversation: chat.conversation,
    lines,
    paint: (_, text) => text,
    review: () => undefined,
    say: (text) => said.push(text),
    put: (text) => put.push(text),
    leave: () => undefined,
  });
  let turns = 0;
  return {
    ...chat,
    said,
    put,
    plain,
    async ask(text: string): Promise<void> {
      await plain.handle(text);
      turns += 1;
      await chat.answered(turns);
    },
  };
}

test("/rewind lists the prompts with numbers, goes back to one, and is undone", patience, async (t) => {
  const { plain, ask, said, put, conversation, session } = await plainly(t, ["1", "x", "2"]);
  await plain.handle("/rewind");
  assert.equal(said.at(-1), "Rewind to before: none");
  await ask("one");
  await ask("two");
  await plain.handle("/rewind");
  const text = said.join("\n");
  assert.match(text, /Rewind to before:\n1\. two \(just now\)\n2\. one \(just now\)/);
  assert.match(text, /rewound: the agent continues its own memory up to there/);
  assert.match(text, /in the list of sessions \(\/resume\); \/rewind undo goes back to it/);
  assert.match(text, /Your prompt was: two$/);
  assert.deepEqual(put, ["two"]);
  assert.equal(promptsIn(conversation.current), "one");
  await plain.handle("/rewind");
  assert.match(said.join("\n"), /2\. Undo the rewind: back to the branch[\s\S]*x is not one of the numbers/);
  await plain.handle("/rewind");
  assert.match(said.at(-1) ?? "", /the rewind was undone/);
  assert.equal(conversation.current, session);
  await plain.handle("/rewind undo");
  assert.match(said.at(-1) ?? "", /There is no rewind to undo/);
});

test("/context has no bars, /compact says what to do, and /clear begins anew", patience, async (t) => {
  const { plain, ask, said, until, conversation, session } = await plainly(t, []);
  await ask("one");
  await plain.handle("/context");
  assert.match(said.at(-1) ?? "", /^ *\d+ % {2}your messages: 3 characters$/m);
  await plain.handle("/compact");
  assert.match(said.at(-1) ?? "", /far has no \/compact/);
  await plain.handle("/clear");
  assert.notEqual(conversation.current, session);
  await until(() => conversation.current.phase === "ready");
});
