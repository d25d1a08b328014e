// Tests questions on a screen: what counts as an answer, and questions of sessions that are not shown.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { chatHome, chatWith, farAgent, patience } from "../../../test/support/chat-probe.ts";
import { faceWith, keys } from "../../../test/support/face-probe.ts";

const asks = {
  turns: [
    {
      when: "delete",
      steps: [
        {
          tool: { title: "Delete everything", kind: "delete" },
          steps: [
            {
              ask: true,
              on: {
                refused: [{ say: "not done" }],
                cancelled: [{ say: "not done" }],
                allowed: [{ say: "deleted" }],
              },
            },
          ],
        },
      ],
    },
  ],
  otherwise: [{ say: "hello" }],
} as never;

/** The rule is about time: the clock is put forward. */
function quietly(t: TestContext): () => void {
  const now = performance.now.bind(performance);
  let ahead = 0;
  t.mock.method(performance, "now", () => now() + ahead);
  return () => {
    ahead += 350;
  };
}

test(
  "no key that was pressed before a question was there for a while answers it, and Enter is a no",
  patience,
  async (t) => {
    const quiet = quietly(t);
    const { send, shows, terminal, session, shown } = await faceWith(t, asks);
    send("delete");
    await shows(/Delete everything[\s\S]*y (?:once| yes, this once)/);
    terminal.press("y", "a", "y");
    assert.equal(session.questions.length, 1, "too early");
    quiet();
    terminal.press("\u001b[200~y\u001b[201~");
    assert.equal(session.questions.length, 1, "a paste is no answer");
    quiet();
    terminal.press(keys.enter);
    await shows(/not done/);
    assert.doesNotMatch(await shown(), /deleted/);
  },
);

test("a key that was meant for a list above the question does not answer it", patience, async (t) => {
  const quiet = quietly(t);
  const { send, shows, terminal, session, face } = await faceWith(t, asks);
  send("delete");
  await shows(/y (?:once| yes, this once)/);
  quiet();
  terminal.press(keys.tab);
  terminal.press(keys.ctrlP);
  await shows(/Sessions/);
  quiet();
  terminal.press(keys.tab);
  terminal.press(keys.escape);
  await shows((text) => /y (?:once| yes, this once)/.test(text) && !/Sessions/.test(text));
  terminal.press(keys.tab);
  terminal.press("y");
  assert.equal(session.questions.length, 1, "too early after the list");
  assert.equal(face.composer.text, "");
});

test(
  "Ctrl-K opens the palette over a question, and other keys say that they do not answer it",
  patience,
  async (t) => {
    const quiet = quietly(t);
    const { send, shows, terminal, session } = await faceWith(t, asks, { rows: 40 });
    send("delete");
    await shows(/y (?:once| yes, this once)/);
    quiet();
    terminal.press("\u001bm");
    await shows(/that key is not an answer; Tab goes to the prompt/);
    terminal.press("\u000b");
    await shows(/Commands >/);
    terminal.press(keys.escape);
    await shows((text) => /y (?:once| yes, this once)/.test(text) && !/Commands >/.test(text));
    assert.equal(session.questions.length, 1);
  },
);

test("text in the prompt stays there, and Tab goes to the question", patience, async (t) => {
  const quiet = quietly(t);
  const { send, shows, terminal, session, face } = await faceWith(t, asks);
  send("delete");
  terminal.type("yes, and then ");
  await shows(/y (?:once| yes, this once)/);
  terminal.type("more");
  assert.equal(face.composer.text, "yes, and then more");
  assert.equal(session.questions.length, 1);
  terminal.press(keys.tab);
  quiet();
  terminal.press("n");
  await shows(/not done/);
  assert.equal(face.composer.text, "yes, and then more");
});

test(
  "a question of a session that is not shown is told, and one that comes on the whole screen too",
  patience,
  async (t) => {
    const { send, shows, terminal, session, conversation } = await faceWith(t, asks);
    await shows(/^far(?! · starting)/m);
    conversation.open({ kind: "new", agent: "far" });
    session.send({ text: "delete" });
    await shows(/far \(delete\) needs you: Ctrl-P goes there/);
    conversation.show(session);
    await shows(/y (?:once| yes, this once)/);
    terminal.press(keys.ctrlO);
    await shows(/a question waits for you: close this to answer$/);
    terminal.press("q");
    await shows((text) => /y (?:once| yes, this once)/.test(text) && !/question waits for you/.test(text));
    assert.equal(session.questions.length, 1);
    send("later");
  },
);

test("what a rule refuses is said once: at the question of the agent", patience, async (t) => {
  const steps = [
    {
      tool: { title: "make", kind: "execute", rawInput: { command: "make" } },
      steps: [{ ask: true, on: { refused: [{ say: "not run" }], cancelled: [{ say: "not run" }] } }],
    },
  ];
  const far = await farAgent(t, { otherwise: steps } as never);
  const { cwd } = chatHome(t, { far });
  const { session, answered, notices } = chatWith(t, { cwd, agent: "far", deny: ["exec"] });
  session.send({ text: "go" });
  assert.match(await answered(1), /not run/);
  const answers = session.view.timeline.flatMap((item) => (item.kind === "permission" ? [item.answer] : []));
  assert.match(JSON.stringify(answers), /"_parley.dev\/refusal":"deny exec/);
  assert.doesNotMatch(notices(), /refused/);
});
