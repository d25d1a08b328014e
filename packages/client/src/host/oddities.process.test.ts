// The oddities of real agents within turns and on the wire, as a user of a host sees them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { hosted } from "../../test/support/host-probe.ts";
import { patience } from "../../test/support/managed-probe.ts";

/** Any scenario: some of these steps are no valid updates. */
const play = (scenario: object) => ({ play: scenario as Partial<AgentScenario> });
const sessionUpdate = (update: object) => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId: "{{session}}", update },
});
const chunk = (text: string, sessionUpdateOf = "agent_message_chunk") =>
  sessionUpdate({ sessionUpdate: sessionUpdateOf, content: { type: "text", text } });
const fine = [{ say: "fine" }];
const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const stops = ({
  turns,
}: {
  readonly turns: readonly { readonly result: { readonly stopReason: string } }[];
}) => turns.map(({ result }) => result.stopReason);

test(
  "text after the answer is shown before the next prompt, and ends no further turn",
  patience,
  async (t) => {
    const late = { method: "session/prompt", result: { stopReason: "end_turn" }, after: [chunk("late")] };
    const { talk } = hosted(t, [play({ editions: ["v1"], wire: { replies: [late] } })], {
      traits: { lateMs: 300 },
    });
    const one = talk();
    one.conversation.send({ text: "first" });
    one.conversation.send({ text: "second" });
    await one.ended(2);
    assert.deepEqual(one.shown(), ["user: first", "agent: late", "user: second", "agent: late"]);
    assert.deepEqual(stops(one), ["end_turn", "end_turn"]);
  },
);

test("text when nobody has asked is shown, and begins no turn", patience, async (t) => {
  const later = { later: [{ say: "Info: cancelled by user" }, { title: "Later" }] };
  const { talk } = hosted(t, [play({ editions: ["v1"], otherwise: [...fine, later] })]);
  const one = talk();
  await one.ask("hello");
  await one.until(() => one.conversation.title === "Later");
  assert.equal(one.shown().join("|"), "user: hello|agent: fine|agent: Info: cancelled by user");
  assert.equal(one.conversation.turn, undefined);
  assert.deepEqual(stops(one), ["end_turn"]);
  await one.ask("again");
  assert.deepEqual(stops(one), ["end_turn", "end_turn"]);
});

test("work that nobody has asked for is a turn: prompts wait for its end", patience, async (t) => {
  const allowed = [{ say: "by myself" }, { wait: "cancelled" }];
  const work = [{ ask: "May I?", on: { allowed } }];
  const { talk } = hosted(t, [
    play({ editions: ["v2"], turns: [{ when: "hello", steps: [...fine, { work }] }], otherwise: fine }),
  ]);
  const one = talk();
  one.conversation.send({ text: "hello" });
  (await one.asked("permission")).answer("allow:once");
  await one.until(() => one.shown().includes("agent: by myself"));
  assert.notEqual(one.conversation.turn, undefined);
  one.conversation.send({ text: "next" });
  await one.until(() => one.conversation.queue.length === 1);
  assert.equal(one.shown().filter((line) => line === "user: next").length, 0, "it waits");
  one.conversation.cancel();
  await one.until(() => one.conversation.turn === undefined);
  assert.equal(one.conversation.queue.length, 1, "it is held");
  one.conversation.send({ text: "now" });
  await one.until(() => one.shown().includes("user: next") && one.conversation.turn === undefined);
  const prompts = one.shown().filter((line) => line.startsWith("user"));
  assert.deepEqual(prompts, ["user: hello", "user: now", "user: next"]);
});

test("an agent that cannot be steered is stopped, and gets the message next", patience, async (t) => {
  const long = { when: "long", steps: [{ say: "working" }, { wait: "cancelled" }] };
  const { talk } = hosted(t, [play({ editions: ["v1"], turns: [long], otherwise: fine })]);
  const one = talk();
  one.conversation.send({ text: "long" });
  await one.until(() => one.shown().includes("agent: working"));
  assert.equal(one.conversation.agent.accepts.steering, false);
  assert.equal(await one.conversation.steer({ text: "rather this" }), "resent");
  await one.ended(2);
  assert.deepEqual(one.shown(), ["user: long", "agent: working", "user: rather this", "agent: fine"]);
  assert.deepEqual(stops(one), ["cancelled", "end_turn"]);
});

test("a prompt that the agent repeats as an echo is shown once", patience, async (t) => {
  const echo = {
    rawUpdate: { sessionUpdate: "user_message_chunk", content: { type: "text", text: "hello" } },
  };
  const { talk } = hosted(t, [play({ editions: ["v1"], otherwise: [echo, ...fine] })]);
  const one = talk();
  await one.ask("hello");
  assert.deepEqual(one.shown(), ["user: hello", "agent: fine"]);
});

test("a stop that is ignored ends the agent, says so, and ends the turn once", patience, async (t) => {
  const stuck = play({ otherwise: [{ say: "on and on" }, { hang: "turn" }] });
  const { talk, starts } = hosted(
    t,
    [
      { ...stuck, keeps: true },
      { ...play({ otherwise: fine }), keeps: true },
    ],
    { cancelTimeoutMs: 50 },
  );
  const one = talk();
  one.conversation.send({ text: "work" });
  await one.until(() => one.shown().includes("agent: on and on"));
  one.conversation.cancel();
  await one.ended(1);
  assert.deepEqual(stops(one), ["cancelled"]);
  assert.match(one.notices.map(({ text }) => text).join("\n"), /did not end its work within 50 ms/);
  await one.ask("more");
  assert.deepEqual(one.shown(), ["user: work", "agent: on and on", "user: more", "agent: fine"]);
  assert.deepEqual(stops(one), ["cancelled", "end_turn"]);
  assert.equal(starts().length, 2);
});

test("updates before the answer that names the session belong to it", patience, async (t) => {
  const early = sessionUpdate({
    sessionUpdate: "available_commands_update",
    availableCommands: [{ name: "init", description: "Begins" }],
  });
  const replies = [{ method: "session/new", before: [early, chunk("welcome")] }];
  const { talk } = hosted(t, [play({ editions: ["v1"], otherwise: fine, wire: { replies } })]);
  const one = talk();
  await one.ask("hello");
  assert.deepEqual(
    one.conversation.commands.map(({ name }) => name),
    ["init"],
  );
  assert.deepEqual(one.shown(), ["agent: welcome", "user: hello", "agent: fine"]);
});

test("an error after the answer changes nothing", patience, async (t) => {
  const error = { code: -32603, message: "Internal error" };
  const after = [
    { jsonrpc: "2.0", id: "{{id}}", error },
    { jsonrpc: "2.0", id: null, error },
  ];
  const replies = [{ method: "session/prompt", after }];
  const { talk } = hosted(t, [play({ editions: ["v1"], otherwise: fine, wire: { replies } })]);
  const one = talk();
  await one.ask("one");
  await one.ask("two");
  assert.deepEqual(one.shown(), ["user: one", "agent: fine", "user: two", "agent: fine"]);
  assert.deepEqual(stops(one), ["end_turn", "end_turn"]);
  assert.equal(one.conversation.phase, "ready");
});

test(
  "a question that the agent needs no more leaves the list, also when its turn ends without it",
  patience,
  async (t) => {
    const params = { sessionId: "{{session}}", toolCall: { toolCallId: "t", title: "rm" }, options };
    const question = { raw: { jsonrpc: "2.0", id: "q", method: "session/request_permission", params } };
    const { talk } = hosted(t, [
      play({
        editions: ["v1"],
        turns: [
          { when: "ends", steps: [question, { wait: { gate: "go" } }, { say: "without you" }] },
          { when: "stops", steps: [{ tool: { title: "rm", kind: "delete" }, steps: [{ ask: true }] }] },
        ],
        otherwise: fine,
      }),
    ]);
    const one = talk();
    one.conversation.send({ text: "stops" });
    await one.asked("permission");
    one.conversation.cancel();
    await one.ended(1);
    assert.deepEqual(one.conversation.questions, []);
    assert.deepEqual(stops(one), ["cancelled"]);
    one.conversation.send({ text: "ends" });
    const open = await one.asked("permission");
    one.conversation.cancel();
    await one.ended(2);
    await one.until(() => one.conversation.questions.length === 0);
    // too late
    open.answer("allow:once");
    await one.ask("more");
    assert.equal(one.shown().at(-1), "agent: fine");
  },
);

test("a question of a subagent carries the name of its task", patience, async (t) => {
  const parent = { toolCallId: "p", title: "Task: find bugs", kind: "think" };
  const patch = { _meta: { claudeCode: { parentToolUseId: "p" } } };
  const child = { tool: { title: "Remove it", kind: "delete" }, steps: [{ patch }, { ask: true }] };
  const { talk } = hosted(t, [play({ editions: ["v1"], otherwise: [{ tool: parent, steps: [child] }] })]);
  const one = talk();
  one.conversation.send({ text: "hello" });
  const question = await one.asked("permission");
  assert.equal(question.from, "Task: find bugs");
  question.answer("allow:once");
  await one.ended(1);
  assert.deepEqual(
    one.shown().filter((line) => line.startsWith("call")),
    ["call Task: find bugs: completed", "call Remove it: completed"],
  );
});

test("a pause of the model is in the state until the model answers", patience, async (t) => {
  const info = (retry: object | null) => ({
    rawUpdate: { sessionUpdate: "session_info_update", _meta: { "_parley.dev/retry": retry } },
  });
  const paused = info({ attempt: 2, of: 5, delayMs: 60_000, reason: "overloaded" });
  const steps = [paused, { ask: "May I?", on: { allowed: [info(null), ...fine] } }];
  const { talk } = hosted(t, [play({ editions: ["v2"], otherwise: steps })]);
  const one = talk();
  one.conversation.send({ text: "hello" });
  await one.until(() => one.conversation.turn?.wait !== undefined);
  assert.partialDeepStrictEqual(one.conversation.turn?.wait, { attempt: 2, of: 5, reason: "overloaded" });
  const question = await one.asked("permission");
  question.answer("allow:once");
  await one.until(() => one.shown().includes("agent: fine"));
  assert.equal(one.conversation.turn?.wait, undefined);
  await one.ended(1);
  assert.deepEqual(stops(one), ["end_turn"]);
});

test("lines on stdout that are no messages are told once, and change nothing", patience, async (t) => {
  const greeting = ["Starting the agent...", "", "Loaded 3 extensions\r"];
  const steps = [{ raw: "(node:1) Warning: deprecated" }, ...fine];
  const { talk } = hosted(t, [play({ otherwise: steps, wire: { greeting } })]);
  const one = talk();
  await one.ask("hello");
  assert.deepEqual(one.shown(), ["user: hello", "agent: fine"]);
  assert.deepEqual(
    one.notices.map(({ level, text }) => `${level}: ${text}`),
    [
      "warning: the agent wrote a line to stdout that is not a message, skipped; it begins: Starting the agent...",
    ],
  );
});

test(
  "a login in the middle of the session is a question, and the prompt is sent again and shown once",
  patience,
  async (t) => {
    const replies = [
      {
        method: "session/prompt",
        nth: 1,
        error: { code: -32000, message: "Authentication required: expired" },
      },
    ];
    const authMethods = ["one", "two"].map((id) => ({ methodId: id, name: `Way ${id}`, type: "agent" }));
    const { talk } = hosted(t, [play({ editions: ["v1"], authMethods, otherwise: fine, wire: { replies } })]);
    const one = talk();
    one.conversation.send({ text: "hello" });
    const question = await one.asked("login");
    assert.deepEqual(
      question.methods.map(({ name }) => name),
      ["Way one", "Way two"],
    );
    question.answer("two");
    await one.ended(1);
    assert.deepEqual(one.shown(), ["user: hello", "agent: fine"]);
    assert.deepEqual(stops(one), ["end_turn"]);
    assert.deepEqual(one.conversation.questions, []);
    assert.match(one.notices.map(({ text }) => text).join("\n"), /expired/);
  },
);
