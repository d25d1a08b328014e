import assert from "node:assert/strict";
import { test } from "node:test";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import { askTool, switchModeTool, todoTool } from "./conversation-tools.ts";

test("A73 the plan is shown whole, and its title says how far it is", async (t) => {
  const { call, plans } = await probe(t);
  const entries = [
    { content: "look", status: "completed" },
    { content: "change", status: "in_progress", priority: "high" },
    { content: "test", status: "pending" },
  ];
  const { told, prepared } = await call(todoTool, { entries });
  assert.equal(told, "the plan is shown: 1 done, 2 to do; continue with it");
  assert.deepEqual(prepared.presentation, { title: "Plan: 1 of 3 done, now: change", kind: "think" });
  assert.deepEqual(prepared.access, { type: "none" });
  assert.deepEqual(plans, [
    [
      { content: "look", status: "completed", priority: "medium" },
      { content: "change", status: "in_progress", priority: "high" },
      { content: "test", status: "pending", priority: "medium" },
    ],
  ]);
  assert.equal((await call(todoTool, { entries: [] })).prepared.presentation.title, "Clear the plan");
  assert.match(
    await refusal(call(todoTool, { entries: [{ content: "x", status: "done" }] })),
    /entries\[0\]\.status must be one of "pending", "in_progress", "completed", got "done"$/,
  );
});

test("a question is asked with its options, and the answer told", async (t) => {
  const { call, asked } = await probe(t, { answer: "blue" });
  const { told, prepared } = await call(askTool, {
    question: "Which colour?",
    options: ["red", "blue", "red"],
  });
  assert.equal(told, "the user answered: blue");
  assert.deepEqual(asked, [{ question: "Which colour?", options: ["red", "blue"] }]);
  assert.deepEqual(prepared.presentation, { title: "Which colour?", kind: "other" });
});

test("a question without an answer does not stop the work", async (t) => {
  const { call } = await probe(t);
  assert.match(
    (await call(askTool, { question: "Why?" })).told,
    /^\[the user gave no answer; do what you think is best/,
  );
});

test("A94 a question must not ask for a secret, but may be about secrets", async (t) => {
  const { call, asked } = await probe(t, { answer: "yes" });
  for (const question of ["What is your API key?", "Please paste the access_token.", "Enter your password"]) {
    assert.match(await refusal(call(askTool, { question })), /must not ask for a password, a key or a token/);
  }
  assert.deepEqual(asked, []);
  await call(askTool, { question: "Which tests are slow?" });
  await call(askTool, { question: "Where is your API key?", options: ["in .env", "in the keychain"] });
  assert.equal(asked.length, 2);
});

for (const version of [1, 2] as const) {
  test(`the user sees the plan and chooses how to go on (v${version})`, async (t) => {
    const offered: string[][] = [];
    let choice = "code";
    const { call, modes } = await probe(t, {
      version,
      client: {
        requestPermission({ options }) {
          offered.push(options.map(({ optionId, kind }) => `${optionId} ${kind}`));
          return { outcome: "selected", optionId: choice };
        },
      },
    });
    const first = await call(switchModeTool, { plan: "1. do it" });
    assert.deepEqual(first.prepared.presentation, {
      title: "Carry out this plan?",
      kind: "switch_mode",
      content: [{ type: "content", content: { type: "text", text: "1. do it" } }],
    });
    assert.match(first.told, /^the user agrees; the mode is now code/);
    choice = "ask";
    assert.match((await call(switchModeTool, { plan: "x" })).told, /^the user agrees; the mode is now ask/);
    choice = "architect";
    assert.match((await call(switchModeTool, { plan: "x" })).told, /^the user wants to keep planning/);
    assert.deepEqual(modes, ["code", "ask"]);
    assert.deepEqual(offered[0], ["code allow_always", "ask allow_once", "architect reject_once"]);
  });
}

test("switch_mode fails outside architect mode", async (t) => {
  const { call } = await probe(t, { mode: "ask" });
  assert.equal(
    await refusal(call(switchModeTool, { plan: "x" })),
    "the mode is ask, not architect; continue without this tool",
  );
});
