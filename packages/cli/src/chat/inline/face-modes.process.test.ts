// Tests modes on a screen: while a question waits, those that ask nothing, and the line in the transcript.

import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "../../../test/support/chat-probe.ts";
import { faceWith, keys } from "../../../test/support/face-probe.ts";

const modes = [
  { value: "default", name: "Default" },
  { value: "acceptEdits", name: "Accept Edits" },
  { value: "bypassPermissions", name: "Bypass Permissions" },
];
const option = { configId: "mode", name: "Mode", category: "mode", type: "select", currentValue: "default" };

const asked = (title: string, call: object) => ({
  when: title,
  steps: [
    {
      tool: { title, ...call },
      steps: [{ ask: true, on: { refused: [{ say: "not done" }], allowed: [{ say: `done: ${title}` }] } }],
    },
  ],
});

const play = {
  open: { configOptions: [{ ...option, options: modes }] },
  turns: [
    asked("edit", {
      kind: "edit",
      content: [{ type: "diff", path: "/project/a.ts", newText: "x", changes: [] }],
    }),
    asked("command", { kind: "execute", rawInput: { command: "make" } }),
    { when: "plan", steps: [{ mode: "acceptEdits" }, { say: "planned" }] },
  ],
  otherwise: [{ say: "hello" }],
} as never;

const question = /y (?:once| yes, this once)/;

test(
  "Shift-Tab at a question switches the mode, and answers what the new mode would not have asked",
  patience,
  async (t) => {
    const { send, shows, terminal, session } = await faceWith(t, play, { name: "claude" });
    send("edit");
    await shows(question);
    terminal.press(keys.shiftTab);
    const text = await shows(/done: edit/);
    assert.match(text, /mode: Default → Accept Edits/);
    assert.deepEqual(session.questions, []);
  },
);

test(
  "a question that the new mode asks too stays open, and a line says that it needs an answer",
  patience,
  async (t) => {
    const { send, shows, terminal, session } = await faceWith(t, play, { name: "claude" });
    send("command");
    await shows(question);
    terminal.press(keys.shiftTab);
    await shows(/mode: Default → Accept Edits[\s\S]*mode Accept Edits, but this question still needs/);
    assert.equal(session.questions.length, 1);
  },
);

test(
  "Shift-Tab passes over a mode that asks nothing, and /mode asks once before it switches to one",
  patience,
  async (t) => {
    const { send, shows, terminal, session, conversation } = await faceWith(t, play, { name: "claude" });
    const mode = () => session.options.find(({ category }) => category === "mode")?.currentValue;
    send("hi");
    await shows(/hello/);
    terminal.press(keys.shiftTab);
    await shows(/mode: Default → Accept Edits/);
    terminal.press(keys.shiftTab);
    await shows(/mode: Accept Edits → Default/);
    send("/mode bypassPermissions");
    await shows(/In mode Bypass Permissions, claude changes files/);
    terminal.press("n");
    assert.equal(mode(), "default");
    send("/mode bypassPermissions");
    await shows(/Switch to it\?/);
    terminal.press("y");
    await shows(/mode: Default → Bypass Permissions; this mode never asks/);
    assert.equal(mode(), "bypassPermissions");
    // it is part of the transcript, not only of the screen
    const { timeline } = conversation.current.view;
    assert.equal(timeline.filter(({ kind }) => kind === "notice").length, 3);
  },
);

test("a mode that the agent changes is a line in the transcript too", patience, async (t) => {
  const { send, shows } = await faceWith(t, play);
  send("plan");
  await shows(/mode: Default → Accept Edits[\s\S]*planned/);
});
