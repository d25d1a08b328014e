// Tests the conversation on a screen, at the moments that matter.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { patience } from "../../../test/support/chat-probe.ts";
import { faceWith, keys } from "../../../test/support/face-probe.ts";

const waits = {
  otherwise: [
    { say: "# Working\n\nOn **it**, with a list:\n\n- one\n- two\n" },
    { wait: { gate: "go" } },
    { say: "\nDone." },
  ],
} as const;

test("the prompt is there before the agent is, and takes what is written", patience, async (t) => {
  const { shown, screen, terminal, shows } = await faceWith(t, waits);
  screen.flush();
  assert.match(await shown(), /^far · starting[^\n]*\n╭─+\n│ > write.*\n╰─ Ctrl-K/);
  terminal.type("hello");
  await shows(/> hello/);
  assert.deepEqual(await terminal.cursor(), { row: 2, column: 9 });
  await shows(/^far · workspace|^far(?! · starting)/);
});

test(
  "an answer is drawn as it streams, and stays in the scrollback when it is finished",
  patience,
  async (t) => {
    const { send, far, shows, terminal, screen, answered } = await faceWith(t, waits, {
      columns: 60,
      rows: 16,
    });
    send("do it");
    const text = await shows(/- two/);
    assert.match(text, /› do it\n[\s\S]*Working\n\n *On it, with a list:\n\n *- one\n *- two/);
    assert.match(text, /far · working \d+ s/);
    await far.agent.reached("go");
    far.agent.open("go");
    await shows(/Done\.[\s\S]*far(?! · working)/);
    for (let at = 0; at < 10; at++) {
      far.agent.open("go");
      send(`again ${at}`);
      await answered(at + 2);
    }
    screen.flush();
    const all = (await terminal.everything()).join("\n");
    assert.equal(all.split("› do it").length, 2, "nothing is printed twice");
    assert.equal(all.split("Done.").length, 12);
  },
);

test("the end of an agent is told below what it said before", patience, async (t) => {
  const { send, far, shows } = await faceWith(t, waits);
  send("do it");
  await far.agent.reached("go");
  await shows(/- two/);
  far.cut();
  const text = await shows(/the agent ended/);
  assert.match(text, /- two[\s\S]*the agent ended/);
  assert.equal(text.split("- two").length, 2, "it is printed once");
});

test("what is sent while the agent works waits, is shown, and is sent", patience, async (t) => {
  const { send, far, shows } = await faceWith(t, waits);
  send("first");
  await far.agent.reached("go");
  send("second");
  send("third");
  assert.match(await shows(/then {2}third/), /next {2}second\nthen {2}third[\s\S]*queue 2/);
  far.agent.open("go");
  far.agent.open("go");
  far.agent.open("go");
  await shows((text) => /› third/.test(text) && !/queue/.test(text));
});

test("Esc stops the turn, and the session goes on", patience, async (t) => {
  const { send, far, shows, terminal } = await faceWith(t, waits);
  send("work");
  await far.agent.reached("go");
  terminal.press(keys.escape);
  await shows(/stopping/);
  await shows(/cancelled/);
  send("again");
  await shows(/› again/);
  far.agent.open("go");
  far.agent.open("go");
  await shows(/Done\./);
});

test(
  "one Ctrl-C clears the prompt or stops the turn, and only a second one at an empty prompt leaves",
  patience,
  async (t) => {
    const { terminal, shows, face, session } = await faceWith(t, waits);
    await shows(/^far(?! · starting)/);
    terminal.type("some words");
    terminal.press(keys.ctrlC);
    await shows(/> write/);
    terminal.press(keys.ctrlC);
    await shows(/Ctrl-C again to leave/);
    assert.equal(session.phase, "ready");
    terminal.press(keys.ctrlC);
    await face.left;
  },
);

test("an agent that ends shows why, and the session goes on", patience, async (t) => {
  const { send, far, shows, terminal } = await faceWith(t, waits);
  send("work");
  await far.agent.reached("go");
  far.cut();
  assert.match(await shows(/> Enter starts the agent again/), /far · crashed/);
  terminal.press(keys.enter);
  await shows(/^far(?! · (?:crashed|starting))/m);
  far.agent.open("go");
  far.agent.open("go");
  send("again");
  await shows(/› again[\s\S]*Done\./);
});

test("a resize prints nothing again, and the prompt stays whole", patience, async (t) => {
  const { send, far, shows, terminal, screen } = await faceWith(t, waits, { columns: 80, rows: 16 });
  far.agent.open("go");
  send("do it");
  await shows(/Done\.[\s\S]*> write/);
  terminal.type("a draft of mine");
  for (const [columns, rows] of [
    [60, 16],
    [100, 30],
    [40, 10],
    [80, 16],
  ] as const) {
    terminal.resize(columns, rows);
    await shows(/> a draft of mine/);
  }
  screen.flush();
  const all = (await terminal.everything()).join("\n");
  assert.equal(all.split("› do it").length, 2);
  assert.equal(all.split("Done.").length, 2);
});

test("the whole transcript opens on a screen of its own and goes away again", patience, async (t) => {
  const { send, far, shows, terminal } = await faceWith(t, waits);
  far.agent.open("go");
  send("do it");
  const before = await shows(/Done\.[\s\S]*> write/);
  terminal.press(keys.ctrlO);
  await shows(/do it[\s\S]*Working/);
  assert.equal(await terminal.isAlternate(), true);
  terminal.press("q");
  await shows((text) => text === before);
  assert.equal(await terminal.isAlternate(), false);
});

test("a turn ends with what it changed, and /undo takes it back and /redo again", patience, async (t) => {
  const { send, far, shows, cwd } = await faceWith(t, waits);
  const file = join(cwd, "notes.txt");
  writeFileSync(file, "one\ntwo\n");
  send("change it");
  await far.agent.reached("go");
  // the agent writes by itself
  writeFileSync(file, "one\nTWO\nthree\n");
  far.agent.open("go");
  await shows(/1 file \+2 -1/);
  send("/undo");
  await shows(/undone notes\.txt/);
  assert.equal(readFileSync(file, "utf8"), "one\ntwo\n");
  send("/redo");
  await shows(/redone notes\.txt/);
  assert.equal(readFileSync(file, "utf8"), "one\nTWO\nthree\n");
  send("/review");
  assert.match(await shows(/Review[\s\S]*1 open/), /notes\.txt[\s\S]*- two[\s\S]*\+ TWO[\s\S]*\+ three/);
});

test("a list that is opened leaves the transcript in sight, however long it is", patience, async (t) => {
  const { send, far, shows } = await faceWith(t, waits, { rows: 40 });
  far.agent.open("go");
  send("do it");
  await shows(/Done\.[\s\S]*> write/);
  send("/agent");
  const text = await shows(/Agents/);
  assert.match(text, /Done\./);
  assert.ok(text.split("\n").filter((line) => /^│ (?!> write)/.test(line)).length <= 14, text);
});

test("the plan of a turn is not pinned over the next one, nor after it", patience, async (t) => {
  const plan = [{ content: "look", status: "pending", priority: "medium" }] as const;
  const { send, far, shows } = await faceWith(t, {
    turns: [{ steps: [{ plan }, { wait: { gate: "go" } }] }, { steps: [{ wait: { gate: "go" } }] }],
  });
  send("one");
  await shows(/Plan · 0 of 1 done[\s\S]*look/);
  far.agent.open("go");
  // it says what is left while nothing works
  await shows(/Plan · 0 of 1 done[\s\S]*look[\s\S]*> write/);
  send("two");
  await shows((text) => /› two[\s\S]*working/.test(text) && !/Plan/.test(text));
  far.agent.open("go");
  // nor does it come back when that one has ended
  await shows((text) => /› two[\s\S]*> write/.test(text) && !/Plan/.test(text));
});

test("a key goes to the prompt before, and again to the one before it", patience, async (t) => {
  const { send, far, shows, terminal, answered } = await faceWith(t, waits);
  for (const [at, prompt] of ["first", "second"].entries()) {
    far.agent.open("go");
    send(prompt);
    await answered(at + 1);
  }
  const altUp = "\u001b[1;3A";
  terminal.press(altUp);
  await shows(/▶ › second/);
  terminal.press(altUp);
  await shows(/▶ › first/);
  terminal.press("q");
  await shows(/> write/);
});

test("after a stop, what waits is kept, and Enter sends it", patience, async (t) => {
  const { send, far, shows, terminal } = await faceWith(t, waits);
  send("first");
  await far.agent.reached("go");
  send("second");
  await shows(/next {2}second/);
  terminal.press(keys.escape);
  const stopped = await shows(/cancelled[\s\S]*> Enter sends what waits/);
  assert.doesNotMatch(stopped, /stopping|press Esc again/);
  terminal.press(keys.enter);
  await shows((text) => /› second/.test(text) && !/next {2}second/.test(text));
  far.agent.open("go");
  far.agent.open("go");
});

test(
  "a message for the running turn is shown until the agent takes it, and kept if it never does",
  patience,
  async (t) => {
    const { send, far, shows, terminal } = await faceWith(t, {
      editions: ["v1"],
      concurrentPrompts: "inbox",
      otherwise: [{ say: "On it." }, { wait: { gate: "go" } }],
    });
    send("first");
    await far.agent.reached("go");
    terminal.type("and this");
    terminal.press(keys.altEnter);
    await shows(/now {3}and this/);
    terminal.press(keys.escape);
    await shows(/next {2}and this[\s\S]*> Enter sends what waits/);
  },
);

test("other colours are used at once, and nothing is printed again", patience, async (t) => {
  const { send, far, shows, terminal, screen, face } = await faceWith(t, waits);
  far.agent.open("go");
  send("do it");
  await shows(/Done\.[\s\S]*> write/);
  face.usePaint((role, text) => (role === "user" ? `{${text}}` : text), "mono");
  await shows(/\{> \}write/);
  screen.flush();
  const all = (await terminal.everything()).join("\n");
  assert.equal(all.split("Done.").length, 2, all);
});
