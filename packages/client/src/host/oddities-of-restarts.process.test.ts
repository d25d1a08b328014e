// The oddities of agents that crash, forget and come back, as a user of a host sees them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { follow, hosted, type Talk } from "../../test/support/host-probe.ts";
import { type Life, patience } from "../../test/support/managed-probe.ts";

const fine = [{ say: "fine" }];
/** An agent that finds its sessions again in its next life. */
const life = (scenario: object): Life => ({ play: scenario as Partial<AgentScenario>, keeps: true });
const initialize = (agentCapabilities: object) => ({ method: "initialize", patch: { agentCapabilities } });
const forgets = initialize({ loadSession: false, sessionCapabilities: null });
const loadsOnly = initialize({ loadSession: true, sessionCapabilities: null });
const stops = ({ turns }: Talk) => turns.map(({ result }) => result.stopReason);
const told = ({ notices }: Talk) => notices.map(({ text }) => text).join("\n");

for (const edition of ["v1", "v2"] as const) {
  test(
    `a prompt at which the agent crashes is sent again and shown once (${edition})`,
    patience,
    async (t) => {
      // which its next life reports before it gets the prompt
      const open = {
        availableCommands: [{ type: "command", name: "init", description: "Begins" }],
        title: "T",
      };
      const { talk, starts } = hosted(t, [
        life({ editions: [edition], turns: [{ when: "work", steps: [{ crash: {} }] }], otherwise: fine }),
        life({ editions: [edition], open, otherwise: [{ say: "back" }] }),
      ]);
      const one = talk();
      await one.ask("first");
      await one.ask("work");
      assert.deepEqual(one.shown(), ["user: first", "agent: fine", "user: work", "agent: back"]);
      assert.deepEqual(stops(one), ["end_turn", "end_turn"]);
      const prompt = one.conversation.view.timeline[2];
      assert.equal(prompt?.kind === "user_message" && prompt.result?.stopReason, "end_turn");
      assert.match(told(one), /restarted the agent; it continues the session/);
      assert.equal(one.conversation.phase, "ready");
      // typed again, it is another one
      await one.ask("work");
      assert.deepEqual(one.shown().slice(4), ["user: work", "agent: back"]);
      assert.equal(starts().length, 2);
    },
  );
}

test("a session whose id changes with a restart is one session, also in the history", patience, async (t) => {
  const replies = [forgets];
  const lives = [
    life({ editions: ["v1"], wire: { replies }, otherwise: [...fine, { later: [{ crash: {} }] }] }),
    life({ editions: ["v1"], wire: { replies }, otherwise: [{ say: "who are you?" }] }),
  ];
  const { talk, another, host, history } = hosted(t, lives, { keepsHistory: true });
  const one = talk();
  await one.ask("hello");
  const before = one.conversation.sessionId;
  await one.until(() => one.conversation.phase === "crashed");
  await one.ask("again");
  assert.notEqual(one.conversation.sessionId, before);
  assert.deepEqual(one.shown(), ["user: hello", "agent: fine", "user: again", "agent: who are you?"]);
  assert.match(told(one), /new session; it does not know the previous conversation/);
  assert.deepEqual(one.conversation.questions, []);
  const { historyId, sessionId } = one.conversation;
  await host.close();
  assert.equal((await history.find(historyId ?? ""))?.agentSessionId, sessionId);
  assert.equal((await history.list()).length, 1);
  const two = follow(another().open({ session: historyId }));
  await two.until(() => two.shown().length === 4);
  assert.deepEqual(two.shown(), one.shown());
});

test(
  "what a restarted agent replays is not shown again, and a continued session is shown once",
  patience,
  async (t) => {
    const replies = [loadsOnly];
    const dies = [{ when: "die", steps: [{ crash: {} }] }];
    const lives = [
      life({ editions: ["v1"], wire: { replies }, turns: dies, otherwise: fine }),
      life({ editions: ["v1"], wire: { replies }, otherwise: [{ say: "alive" }] }),
    ];
    const { talk, host, another } = hosted(t, lives, { keepsHistory: true });
    const one = talk();
    await one.ask("hello");
    await one.ask("die");
    const shown = ["user: hello", "agent: fine", "user: die", "agent: alive"];
    assert.deepEqual(one.shown(), shown);
    const { historyId } = one.conversation;
    await host.close();
    const two = follow(another().open({ session: historyId }));
    await two.until(() => two.conversation.phase === "ready");
    assert.deepEqual(two.shown(), shown);
    await two.ask("more");
    assert.deepEqual(two.shown(), [...shown, "user: more", "agent: alive"]);
    assert.deepEqual(stops(two), ["end_turn"]);
  },
);

test("tool call ids that count from 1 again after a restart are other calls", patience, async (t) => {
  const call = (title: string) => ({ tool: { toolCallId: "1", title, kind: "read" } });
  const { talk } = hosted(t, [
    life({ editions: ["v1"], otherwise: [call("Look"), { later: [{ crash: {} }] }] }),
    life({ editions: ["v1"], otherwise: [call("Look again")] }),
  ]);
  const one = talk();
  await one.ask("one");
  await one.until(() => one.conversation.phase === "crashed");
  await one.ask("two");
  assert.deepEqual(one.shown(), [
    "user: one",
    "call Look: completed",
    "user: two",
    "call Look again: completed",
  ]);
});

test(
  "an agent that ends right after its answer has ended its turn well, and is back for the next prompt",
  patience,
  async (t) => {
    const { talk, starts } = hosted(t, [
      life({ otherwise: [...fine, { later: [{ crash: { exitCode: 0 } }] }] }),
    ]);
    const one = talk();
    one.conversation.send({ text: "one" });
    await one.ended(1);
    await one.until(() => one.conversation.phase === "crashed");
    await one.ask("two");
    assert.deepEqual(one.shown(), ["user: one", "agent: fine", "user: two", "agent: fine"]);
    assert.deepEqual(stops(one), ["end_turn", "end_turn"]);
    assert.equal(starts().length, 2);
  },
);

test(
  "an agent that crashes while it is idle says why, holds nothing, and is back with the next prompt",
  patience,
  async (t) => {
    const { talk } = hosted(t, [
      {
        ...life({ otherwise: [...fine, { later: [{ crash: { exitCode: 3 } }] }] }),
        stderr: "out of memory\n",
      },
      life({ otherwise: [{ say: "back" }] }),
    ]);
    const one = talk();
    await one.ask("one");
    await one.until(() => one.conversation.phase === "crashed");
    assert.match(one.conversation.problem?.message ?? "", /exited with code 3/);
    assert.match(one.conversation.problem?.stderr ?? "", /out of memory/);
    assert.equal(one.turns.length, 1);
    await one.conversation.restart();
    assert.equal(one.conversation.phase, "ready");
    assert.equal(one.conversation.problem, undefined);
    await one.ask("two");
    assert.equal(one.shown().at(-1), "agent: back");
  },
);

test(
  "a crash with a question open withdraws it, ends the turn once, and sends nothing again",
  patience,
  async (t) => {
    const asks = [{ tool: { title: "rm", kind: "delete" }, steps: [{ ask: true }] }];
    const { talk, starts } = hosted(t, [life({ otherwise: asks }), life({ otherwise: [{ say: "back" }] })]);
    const one = talk();
    one.conversation.send({ text: "one" });
    const question = await one.asked("permission");
    one.conversation.send({ text: "waits" });
    await one.until(() => one.conversation.queue.length === 1);
    process.kill(starts()[0]?.pid ?? assert.fail(), "SIGKILL");
    await one.until(() => one.conversation.phase === "crashed" && one.conversation.turn === undefined);
    assert.deepEqual(one.conversation.questions, []);
    assert.deepEqual(stops(one), ["error"]);
    // too late
    question.answer("allow:once");
    await one.conversation.restart();
    assert.equal(one.conversation.queue.length, 1, "it is held");
    await one.ask("two");
    await one.ended(3);
    const prompts = one.shown().filter((line) => line.startsWith("user"));
    assert.deepEqual(prompts, ["user: one", "user: two", "user: waits"]);
  },
);

for (const isAgreed of [true, false]) {
  test(
    `of a session that is lost after a restart the user is asked: ${isAgreed ? "yes" : "no"}`,
    patience,
    async (t) => {
      const { talk } = hosted(t, [
        life({ turns: [{ when: "work", steps: [{ crash: {} }] }], otherwise: fine }),
        // its sessions are not those of its last life
        { play: { otherwise: [{ say: "new here" }] } },
      ]);
      const one = talk();
      await one.ask("hello");
      one.conversation.send({ text: "work" });
      const question = await one.asked("confirm");
      assert.match(question.lines.join("\n"), /no longer has the session/);
      question.answer(isAgreed);
      await one.ended(2);
      assert.deepEqual(one.conversation.questions, []);
      if (isAgreed) {
        assert.deepEqual(one.shown(), ["user: hello", "agent: fine", "user: work", "agent: new here"]);
        assert.deepEqual(stops(one), ["end_turn", "end_turn"]);
        return;
      }
      assert.equal(one.conversation.phase, "crashed");
      assert.deepEqual(
        one.conversation.queue.map(({ text }) => text),
        ["work"],
        "the prompt is kept",
      );
      assert.deepEqual(stops(one), ["end_turn", "error"]);
    },
  );
}

test(
  "a session that another client has taken says so, and the next prompt opens it again",
  patience,
  async (t) => {
    const taken = {
      jsonrpc: "2.0",
      method: "_parley.dev/session_taken",
      params: { sessionId: "{{session}}" },
    };
    const turns = [{ when: "hello", steps: [...fine, { later: [{ raw: taken }] }] }];
    const { talk, starts } = hosted(t, [
      life({ editions: ["v1"], turns, otherwise: [{ say: "mine again" }] }),
    ]);
    const one = talk();
    await one.ask("hello");
    await one.until(() => one.conversation.phase === "crashed");
    assert.match(one.conversation.problem?.message ?? "", /another client has taken the session/);
    assert.deepEqual(stops(one), ["end_turn"]);
    await one.ask("more");
    assert.deepEqual(one.shown(), ["user: hello", "agent: fine", "user: more", "agent: mine again"]);
    assert.equal(one.conversation.phase, "ready");
    assert.equal(starts().length, 1);
  },
);
