// Tests going back to an earlier prompt on a screen, and the commands about the context.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { patience, promptsIn, saidIn } from "../../../test/support/chat-probe.ts";
import { faceWith, keys } from "../../../test/support/face-probe.ts";

const altU = "\u001bu";

/** Two turns: a file appears during the second one. */
async function worked(t: TestContext, play: Partial<AgentScenario> = {}) {
  const probe = await faceWith(t, {
    turns: [{ when: "second thing", steps: [{ wait: { gate: "go" } }, { say: "did it" }] }],
    otherwise: [{ say: "heard {{prompt}}" }],
    unstable: ["fork"],
    ...play,
  });
  const { send, shows, far, cwd } = probe;
  send("first thing");
  await shows(/heard first thing/);
  send("second thing");
  await far.agent.reached("go");
  writeFileSync(join(cwd, "new.txt"), "one\ntwo\n");
  far.agent.open("go");
  await shows(/1 file \+2 -0/);
  return { ...probe, file: join(cwd, "new.txt") };
}

test(
  "Esc Esc lists the prompts, Enter goes back to one, and the rewind can be undone",
  patience,
  async (t) => {
    const { terminal, shows, face, conversation, session, file } = await worked(t);
    terminal.press(keys.escape);
    await shows(/press Esc again to go back to an earlier prompt/);
    terminal.press(keys.escape);
    const list = await shows(/Rewind to before/);
    assert.match(list, /1 second thing +just now · 1 file \+2 -0\n.*2 first thing +just now/);
    assert.doesNotMatch(list, /press Esc again|Alt-U/);
    terminal.press(keys.enter);
    const back = await shows(/rewound: the agent continues its own memory up to there/);
    assert.match(back, /files as they were: 1 file put back/);
    assert.match(
      back,
      /the branch left behind is in the list of sessions \(Ctrl-P\); \/rewind undo goes\s+back/,
    );
    assert.equal(face.composer.text, "second thing");
    assert.equal(existsSync(file), false);
    const branch = conversation.current;
    assert.notEqual(branch, session);
    assert.equal(promptsIn(branch), "first thing");
    terminal.press(keys.ctrlP);
    await shows(/far · open · left by a rewind/);
    terminal.press(keys.escape);
    // the prompt is not empty, so Esc does nothing
    terminal.press(keys.escape);
    terminal.press(keys.escape);
    await shows((text) => !/Rewind to before|Sessions/.test(text));
    terminal.press(keys.ctrlC);
    terminal.press(keys.escape);
    await shows(/press Esc again/);
    terminal.press(keys.escape);
    await shows(/Undo the rewind +back to the branch that was left[\s\S]*Alt-U undoes the rewind/);
    terminal.press(altU);
    await shows(/the rewind was undone: this is the branch that was left/);
    assert.equal(conversation.current, session);
    assert.equal(existsSync(file), true);
  },
);

test("a rewind says that a new session was told the conversation", patience, async (t) => {
  const { send, shows, terminal, far } = await worked(t, { unstable: [] });
  send("/rewind second");
  await shows(/Rewind to before > second/);
  terminal.press(keys.enter);
  await shows(/rewound: a new session that was told the conversation up to there/);
  far.agent.open("go");
  terminal.press(keys.ctrlC);
  send("what was first?");
  await shows(/told: the conversation so far/);
});

test(
  "while the agent works, a rewind is refused, and without prompts there is nothing to list",
  patience,
  async (t) => {
    const { send, shows, far, conversation, session } = await faceWith(t, {
      otherwise: [{ wait: { gate: "go" } }, { say: "done" }],
    });
    await shows(/^far(?! · starting)/m);
    send("/rewind");
    await shows(/there is no earlier prompt/);
    send("work");
    await far.agent.reached("go");
    send("/rewind");
    await shows(/the agent works: stop the turn or wait for its end, then rewind/);
    send("/rewind undo");
    await shows(/there is no rewind to undo/);
    far.agent.open("go");
    await shows(/done/);
    assert.equal(conversation.current, session);
  },
);

test(
  "/context, /clear and /compact do what they can where the agent has no such commands",
  patience,
  async (t) => {
    const { send, shows, until, conversation, session } = await faceWith(t, {
      otherwise: [{ say: "12345" }],
    });
    send("1234567890");
    await shows(/12345\n/);
    send("/context");
    const shown = await shows(/What was said and done here/);
    assert.match(shown, /The agent does not say how full its context is/);
    assert.match(shown, /\[#{13}\.{7}\] +67 % +your messages: 10 characters/);
    assert.match(shown, /\[#{7}\.{13}\] +33 % +the agent's text: 5 characters/);
    send("/compact");
    await shows(/far has no \/compact\. Ask it for a summary and begin a new session/);
    send("/clear");
    await shows(/a new session; the one before is in the list of sessions/);
    assert.notEqual(conversation.current, session);
    assert.equal(promptsIn(session), "1234567890");
    await until(() => conversation.current.phase === "ready");
  },
);

test("/context, /clear and /compact of the agent are sent to it", patience, async (t) => {
  const availableCommands = ["context", "clear", "compact"].map((name) => ({ name, description: name }));
  const { send, shows, conversation, session } = await faceWith(t, {
    open: { availableCommands },
    otherwise: [{ say: "ran {{prompt}}" }],
  });
  await shows(/^far(?! · starting)/m);
  for (const command of ["/context", "/clear", "/compact the tests"]) {
    send(command);
    await shows((text) => text.includes(`ran ${command}`));
  }
  assert.equal(conversation.current, session);
  assert.equal(saidIn(session), "ran /context|ran /clear|ran /compact the tests");
});
