import assert from "node:assert/strict";
import { test } from "node:test";
import { createView } from "@parley/acp/view";
import { painter } from "../../terminal/paint.ts";
import type { LiveSession } from "../conversation/conversation.ts";
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
  } as unknown as LiveSession; // what is read
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
  const shown = (turn: LiveSession["turn"], sending: readonly string[]) =>
    pinnedLines(
      {
        view: { ...createView(), plans: new Map([["p", { plan, version: 1 }]]) },
        queue: [],
        sending,
        steering: [],
        turn,
        cwd: "/",
      } as unknown as LiveSession, // what is used
      { last: 0, before: 0 },
      60,
      painter(false, {}),
    );
  const turn = { startedAt: 0, isCancelling: false };
  assert.deepEqual(shown(turn, ["list"]), ["◐ Plan · 0 of 1 done", "  ◐ step", "sending  list"]);
  assert.deepEqual(shown(undefined, []), ["☐ Plan · 0 of 1 done", "  ☐ step"]);
});
