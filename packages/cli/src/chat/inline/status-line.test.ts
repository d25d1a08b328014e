import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "@parley/acp";
import { createView } from "@parley/acp/view";
import type { Conversation } from "@parley/client/conversation";
import { modelWait } from "@parley/client/conversation";
import { painter } from "../../terminal/paint.ts";
import { pinnedLines } from "./pinned-lines.ts";
import { statusLine } from "./status-line.ts";

const bad = "\u001b[2J\u001b]52;c;aGk=\u0007\u202e";

test("TH5 N198-N206 nothing that an agent names in the status line reaches the terminal, or hides the sandbox", () => {
  const long = `${bad}${"M".repeat(10_000_000)}`;
  const session = {
    agent: { name: `evil${bad}` },
    view: {
      ...createView(),
      mode: { id: "m", name: long },
      cost: { amount: 1.5, currency: `${bad}USD` },
      usage: { used: Number.POSITIVE_INFINITY, size: 10 },
    },
    phase: "ready",
    progress: long,
    queue: [],
    questions: [],
    options: [
      {
        ...{ configId: "model", name: "Model", category: "model", type: "select", currentValue: "m" },
        options: [{ value: "m", name: long }],
      },
    ],
    turn: { startedAt: 0, isCancelling: false },
    branch: `main${bad}`,
    sandbox: "workspace",
  } as unknown as Conversation; // what is read
  const started = performance.now();
  const line = statusLine(session, 200, painter(false, {}), 1_000);
  assert.ok(performance.now() - started < 500, "megabytes were looked at");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those must not be there
  assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202e]/);
  assert.match(line, /^evil\\u202e · working 1 s: .* · 1\.50 .* · main\\u202e · workspace$/);
});

test("a prompt is shown as soon as it is sent, and a step that nobody works on is open", () => {
  const entries = [{ content: "step", status: "in_progress" }];
  const plan = { planId: "p", type: "items", entries };
  const shown = (turn: Conversation["turn"], sending: readonly string[]) =>
    pinnedLines(
      {
        view: { ...createView(), plans: new Map([["p", { plan, version: 1 }]]) },
        queue: [],
        sending,
        steering: [],
        turn,
        cwd: "/",
      } as unknown as Conversation, // what is used
      { last: 0, before: 0 },
      60,
      painter(false, {}),
    );
  const turn = { startedAt: 0, isCancelling: false };
  assert.deepEqual(shown(turn, ["list"]), ["◐ Plan · 0 of 1 done", "  ◐ step", "sending  list"]);
  assert.deepEqual(shown(undefined, []), ["☐ Plan · 0 of 1 done", "  ☐ step"]);
});

test("a pause of the model is in the status with its time and its count, and its reason is above", () => {
  const given = { attempt: 3, of: 5, delayMs: 8_000, reason: `The rate limit${bad} is reached` };
  const entry = (retry: unknown) =>
    modelWait({
      ...{ format: 1, seq: 1, time: 10_000, kind: "update" },
      update: { sessionUpdate: "session_info_update", _meta: { "_parley.dev/retry": retry } },
    } as Entry); // as: a fixture
  const wait = entry(given);
  assert.ok(wait);
  const at = (now: number, turn: object) => {
    const facts = { agent: { name: "parley" }, phase: "ready", cwd: "/", view: createView(), turn };
    const none = { queue: [], questions: [], options: [], sending: [], steering: [], sandbox: "" };
    const session = { ...facts, ...none } as unknown as Conversation; // what is read
    const above = pinnedLines(session, { last: 0, before: 0 }, 60, painter(false, {}));
    return [...above, statusLine(session, 80, painter(false, {}), now)];
  };
  const turn = { startedAt: 0, isCancelling: false, wait };
  assert.deepEqual(at(10_200, turn), [
    "The rate limit\\u202e is reached",
    "parley · waiting 8 s, attempt 3 of 5",
  ]);
  assert.equal(at(18_000, turn).at(-1), "parley · attempt 3 of 5");
  assert.equal(at(10_200, { ...turn, isCancelling: true }).at(-1), "parley · stopping 10 s");
  assert.equal(entry(null), null, "it is over");
  for (const odd of [{}, { ...given, attempt: "3" }, { ...given, delayMs: Number.NaN }, 7, "soon", []])
    assert.equal(entry(odd), null, JSON.stringify(odd));
});

test("a question is told in the status line in every phase", () => {
  const { view, ...rest } = {
    ...{ agent: { name: "far" }, view: createView(), queue: [], options: [], sandbox: "" },
    ...{ questions: [{}] },
  };
  for (const phase of ["starting", "ready"]) {
    const session = { ...rest, view, phase } as unknown as Conversation; // what is read
    assert.equal(statusLine(session, 80, painter(false, {}), 0), "far · needs you");
  }
});
