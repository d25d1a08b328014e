// A host for an app: history, rules, review, several conversations, and its end.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { openReview } from "@parley/review";
import { folder as temporaryFolder } from "../../test/support/gate-probe.ts";
import { follow, hosted, shownIn } from "../../test/support/host-probe.ts";
import { type Life, patience, runs } from "../../test/support/managed-probe.ts";
import { openConversation } from "../conversation.ts";
import { openHost } from "../host.ts";

const life = (scenario: object): Life => ({ play: scenario as Partial<AgentScenario>, keeps: true });
const stopOf = ({ result }: { readonly result: { readonly stopReason: string } }) => result.stopReason;

test("a session of the history is continued with its past, by its id", patience, async (t) => {
  const { talk, host, another, history } = hosted(t, [life({ otherwise: [{ say: "heard {{prompt}}" }] })], {
    keepsHistory: true,
  });
  const one = talk();
  await one.ask("one");
  const { historyId = "", sessionId, title } = one.conversation;
  await host.close();
  assert.equal((await history.list()).length, 1);
  const two = follow(another().open({ session: historyId }));
  await two.until(() => two.conversation.phase === "ready");
  assert.deepEqual(two.shown(), ["user: one", "agent: heard one"]);
  assert.deepEqual([two.turns, two.notices], [[], []], "what was told before is over");
  assert.deepEqual([two.conversation.sessionId, two.conversation.title], [sessionId, title]);
  await two.ask("two");
  assert.deepEqual(two.shown().slice(2), ["user: two", "agent: heard two"]);
  assert.equal(two.conversation.historyId, historyId);
  assert.equal((await history.list()).length, 1);
});

test("a session that the history does not have fails with a sentence", patience, async (t) => {
  const { host, talk, starts } = hosted(t, [life({})]);
  const one = follow(host.open({ session: "unknown" }));
  await one.until(() => one.conversation.phase === "failed");
  assert.match(
    one.conversation.problem?.message ?? "",
    /"unknown" cannot be continued: .* without a history/,
  );
  const two = talk();
  await two.ask("the host goes on");
  // it is no session of the agent, which ends with its last one
  await two.conversation.close();
  assert.deepEqual(
    starts().map(({ pid }) => runs(pid)),
    [false],
  );
});

test("rules decide first; what no rule answers is a question with choices", patience, async (t) => {
  const asks = (title: string, command: string) => ({
    tool: { title, kind: "execute", rawInput: { command } },
    steps: [
      { ask: true, on: { allowed: [{ say: `${title}: yes. ` }], refused: [{ say: `${title}: no. ` }] } },
    ],
  });
  const steps = [asks("Lists", "ls"), asks("Removes", "rm -rf /"), asks("Builds", "make")];
  const { talk } = hosted(t, [life({ editions: ["v1"], otherwise: steps })], {
    permissions: { rules: ["allow exec ls", "deny exec rm"] },
  });
  const one = talk();
  one.conversation.send({ text: "go" });
  const question = await one.asked("permission");
  assert.equal(one.conversation.questions.length, 1);
  assert.match(JSON.stringify(question.question), /Builds.*make/);
  question.answer("allow:once");
  await one.ended(1);
  const said = one.shown().filter((line) => line.startsWith("agent"));
  assert.deepEqual(said.join("").replaceAll("agent: ", ""), "Lists: yes. Removes: no. Builds: yes. ");
  assert.deepEqual(
    one.conversation.view.timeline.flatMap((item) => (item.kind === "tool_call" ? [item.isRefused] : [])),
    [false, true, false],
  );
});

test("a review tells with each turn what it has changed", patience, async (t) => {
  const folder = temporaryFolder(t, { "kept.txt": "same\n", "changed.txt": "one\ntwo\n" });
  const steps = [
    { write: join(folder, "changed.txt"), content: "one\n2\n3\n" },
    { write: join(folder, "new.txt"), content: "new\n" },
  ];
  const turns = [{ when: "write", steps }];
  const { host } = hosted(t, [life({ editions: ["v1"], turns, otherwise: [{ say: "fine" }] })], {
    cwd: folder,
    permissions: { rules: ["allow write **"] },
    review: (roots) => openReview({ roots, stateFolder: temporaryFolder(t) }),
  });
  const one = follow(host.open());
  await one.ask("write");
  const { review, ...counted } = one.turns[0]?.changed ?? assert.fail("nothing was counted");
  assert.deepEqual(counted, { files: 2, added: 3, removed: 1 });
  assert.equal(review?.turn, 1);
  assert.equal(readFileSync(join(folder, "new.txt"), "utf8"), "new\n");
  await one.ask("rest");
  assert.equal(one.turns[1]?.changed, undefined);
  assert.deepEqual(one.turns.map(stopOf), ["end_turn", "end_turn"]);
});

test(
  "two conversations on one session see the same rows, also one that begins later",
  patience,
  async (t) => {
    const asks = { tool: { title: "rm", kind: "delete" }, steps: [{ ask: true }] };
    const { host } = hosted(t, [life({ otherwise: [{ think: "hm" }, asks, { say: "done {{prompt}}" }] })]);
    const link = host.open();
    const one = follow(link);
    one.conversation.send({ text: "one" });
    await one.asked("permission");
    const two = follow(link);
    const question = await two.asked("permission");
    assert.deepEqual(two.shown(), one.shown());
    question.answer("allow:once");
    await one.ended(1);
    two.conversation.send({ text: "two" });
    const other = await one.asked("permission");
    other.answer("deny:once");
    await Promise.all([one.ended(2), two.ended(2)]);
    const late = openConversation(link);
    assert.deepEqual(two.shown(), one.shown());
    assert.deepEqual(shownIn(late), one.shown());
    assert.deepEqual(late.view.timeline, one.conversation.view.timeline);
    assert.deepEqual(two.conversation.view.timeline, one.conversation.view.timeline);
    assert.deepEqual(one.turns, two.turns);
    assert.equal(one.shown().filter((line) => line.startsWith("user")).length, 2);
  },
);

test("two sessions of one host share an agent, which ends with the last of them", patience, async (t) => {
  const { talk, starts } = hosted(t, [life({ otherwise: [{ say: "heard {{prompt}}" }] })]);
  const [one, two] = [talk(), talk()];
  await Promise.all([one.ask("one"), two.ask("two")]);
  assert.deepEqual(
    [one.shown(), two.shown()],
    [
      ["user: one", "agent: heard one"],
      ["user: two", "agent: heard two"],
    ],
  );
  assert.equal(starts().length, 1);
  const pid = starts()[0]?.pid ?? assert.fail();
  await one.conversation.close();
  assert.equal(one.conversation.phase, "closed");
  assert.throws(() => one.conversation.send({ text: "late" }), /this session is closed/);
  await two.ask("more");
  assert.ok(runs(pid));
  await two.conversation.close();
  assert.ok(!runs(pid));
  const three = talk();
  await three.ask("again");
  assert.equal(starts().length, 2);
});

test("closing a host in the middle of everything leaves no process", patience, async (t) => {
  const turns = [
    { when: "hangs", steps: [{ say: "on" }, { hang: "turn" }] },
    { when: "asks", steps: [{ tool: { title: "rm", kind: "delete" }, steps: [{ ask: true }] }] },
  ];
  const { host, talk, starts } = hosted(t, [life({ turns } as object)], { keepsHistory: true });
  const [one, two, three] = [talk(), talk(), talk()];
  one.conversation.send({ text: "hangs" });
  two.conversation.send({ text: "asks" });
  await two.asked("permission");
  await one.until(() => one.shown().includes("agent: on"));
  three.conversation.send({ text: "never" });
  await host.close();
  assert.deepEqual(
    starts().map(({ pid }) => runs(pid)),
    [false],
  );
  for (const { conversation } of [one, two, three]) {
    assert.equal(conversation.phase, "closed");
    assert.deepEqual(conversation.questions, []);
  }
  await host.close();
});

test(
  "an agent that does not start is a state with a reason, and the next prompt tries again",
  patience,
  async (t) => {
    const { talk } = hosted(t, [{ exit: 3, stderr: "no config\n" }, life({ otherwise: [{ say: "here" }] })]);
    const one = talk();
    one.conversation.send({ text: "one" });
    await one.until(() => one.conversation.phase === "failed");
    assert.match(`${one.conversation.problem?.message} ${one.conversation.problem?.stderr}`, /no config/);
    assert.deepEqual(
      one.conversation.queue.map(({ text }) => text),
      ["one"],
    );
    one.conversation.send({ text: "two" });
    await one.ended(2);
    assert.deepEqual(
      one.shown().filter((line) => line.startsWith("user")),
      ["user: one", "user: two"],
    );
  },
);

test("a rule that nobody can read is a state with the rule in its reason", patience, async (t) => {
  const { talk } = hosted(t, [life({})], { permissions: { rules: ["allow everything"] } });
  const one = talk();
  await one.until(() => one.conversation.phase === "failed");
  assert.match(one.conversation.problem?.message ?? "", /rules:1: expected a rule .* got "everything"/);
});

test("wrong options are errors that say what was expected", (t) => {
  const about = { name: "test", version: "1.0.0" };
  const wrong = (options: unknown, message: RegExp, target: unknown = ["agent"]) =>
    assert.throws(() => openHost(target as string, options as typeof about), message);
  wrong(undefined, /openHost: expected an object of options, got nothing/);
  wrong({ ...about, cwd: "here" }, /cwd must be absolute, got "here"/);
  wrong({ ...about, colour: "red" }, /colour/);
  wrong({ ...about, history: {} }, /history must be what openHistory\(\)/);
  wrong({ ...about, review: "yes" }, /review must be a function/);
  wrong({ ...about, keptChars: -1 }, /keptChars must be/);
  wrong({ ...about, permissions: "all" }, /permissions must be an object/);
  wrong(about, /nobody/, "nobody");
  const host = openHost(["agent"], { ...about, cwd: temporaryFolder(t) });
  assert.throws(() => host.open({ cwd: "here" }), /open: cwd must be absolute, got "here"/);
  assert.throws(() => host.open({ session: 7 } as object), /open: session must be/);
});
