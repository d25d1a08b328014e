import assert from "node:assert/strict";
import { test } from "node:test";
import { updates } from "../../test/support/sample-entries.ts";
import type { SessionConfigOption } from "../model/content.ts";
import type { SessionUpdate } from "../model/update.ts";
import { viewFrom } from "../view.ts";

const running: SessionUpdate = { sessionUpdate: "state_update", state: "running" };
const idle: SessionUpdate = { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" };

test("before the agent says anything the state is not known, and nothing is busy (C54)", () => {
  const { state, busy, background } = viewFrom([]);
  assert.deepEqual([state, busy, background], [undefined, false, undefined]);
});

test("running and requires_action are busy, and so is a state that nobody knows (C55)", () => {
  for (const state of ["running", "requires_action", "unknown", "_vendor/dreaming"]) {
    // A tag that is not known has no literal type.
    const update = { sessionUpdate: "state_update", state } as SessionUpdate;
    const view = viewFrom(updates(idle, update));
    assert.deepEqual([view.state, view.busy], [state, true]);
  }
});

test("repeated idle states and the one after a resume are no new completions (C56)", () => {
  assert.equal(viewFrom(updates(idle)).completions, 0, "a snapshot on resume");
  assert.deepEqual(
    viewFrom(updates(idle)).lastResult,
    { stopReason: "end_turn" },
    "but it says how work ended",
  );
  const view = viewFrom(updates(running, idle, idle, { ...idle, stopReason: "cancelled" }));
  assert.deepEqual([view.completions, view.lastResult], [1, { stopReason: "end_turn" }]);
  assert.equal(viewFrom(updates(running, idle, running, idle)).completions, 2);
});

test("the end of work brings its reason, its error and its usage", () => {
  const error = { code: -32000, message: "no quota" };
  const usage = { totalTokens: 3, inputTokens: 2, outputTokens: 1 };
  const end: SessionUpdate = {
    sessionUpdate: "state_update",
    state: "idle",
    stopReason: "error",
    error,
    usage,
  };
  const { lastResult } = viewFrom(updates(running, end));
  assert.deepEqual(lastResult, { stopReason: "error", error: { ...error, kind: "auth_required" }, usage });
});

test("work that ends without a reason completes, and the last reason stays", () => {
  const view = viewFrom(updates(running, idle, running, { sessionUpdate: "state_update", state: "idle" }));
  assert.deepEqual([view.completions, view.lastResult], [2, { stopReason: "end_turn" }]);
});

test("unreported background work does not mean none (C57)", () => {
  const background = [{ type: "terminal" as const, terminalId: "t" }];
  assert.equal(viewFrom(updates(running)).background, undefined);
  assert.deepEqual(viewFrom(updates({ ...running, background }, running)).background, background);
  assert.deepEqual(viewFrom(updates({ ...running, background: [] })).background, []);
});

test("a plan is replaced whole, each by its id, and can be removed (C28)", () => {
  const entry = { content: "x", priority: "high", status: "pending" } as const;
  const plan = (planId: string, count: number): SessionUpdate => ({
    sessionUpdate: "plan_update",
    plan: { type: "items", planId, entries: Array.from({ length: count }, () => entry) },
  });
  const list = [plan("a", 3), plan("b", 2), plan("a", 1)];
  const sizes = (...more: SessionUpdate[]) =>
    [...viewFrom(updates(...list, ...more)).plans.values()].map(({ planId, plan }) => [
      planId,
      plan.type === "items" && plan.entries.length,
    ]);
  assert.deepEqual(sizes(), [
    ["a", 1],
    ["b", 2],
  ]);
  assert.deepEqual(sizes({ sessionUpdate: "plan_removed", planId: "a" }), [["b", 2]]);
  assert.deepEqual(sizes({ sessionUpdate: "plan_removed", planId: "nobody's" }).length, 2);
});

const option = (
  configId: string,
  category: SessionConfigOption["category"],
  currentValue: string,
): SessionConfigOption => ({
  configId,
  name: configId,
  ...(category !== undefined && { category }),
  type: "select",
  currentValue,
  options: [{ groupId: "g", name: "G", options: [{ value: "plan", name: "Plan first" }] }],
});

test("options keep their order, with categories and types that are not known (C36, C37, C38)", () => {
  const configOptions = [
    option("1", undefined, "x"),
    option("2", "_vendor", "y"),
    { configId: "3", name: "3", type: "_slider", currentValue: 7 } as unknown as SessionConfigOption,
  ];
  const view = viewFrom(updates({ sessionUpdate: "config_option_update", configOptions }));
  assert.deepEqual([view.configOptions, view.mode], [configOptions, undefined]);
});

test("the mode is the first option of that category (C35, C36)", () => {
  const mode = (...configOptions: SessionConfigOption[]) =>
    viewFrom(updates({ sessionUpdate: "config_option_update", configOptions })).mode;
  const flag: SessionConfigOption = {
    configId: "b",
    name: "b",
    category: "mode",
    type: "boolean",
    currentValue: true,
  };
  assert.deepEqual(mode(flag, option("m", "mode", "plan"), option("n", "mode", "code")), {
    configId: "m",
    value: "plan",
    name: "Plan first",
  });
  assert.deepEqual(mode(option("m", "mode", "https://x/#agent"))?.name, "https://x/#agent");
});

test("commands are replaced whole", () => {
  const command = (name: string) => ({ type: "command" as const, name, description: name });
  const list = (...names: string[]): SessionUpdate => ({
    sessionUpdate: "available_commands_update",
    availableCommands: names.map(command),
  });
  assert.deepEqual(viewFrom(updates(list("a", "b"), list("c"))).commands, [command("c")]);
});

test("usage is set, and the cost stays until it is replaced or cleared", () => {
  const cost = { amount: 1.5, currency: "USD" };
  const first: SessionUpdate = { sessionUpdate: "usage_update", used: 1, size: 100, cost };
  const second: SessionUpdate = { sessionUpdate: "usage_update", used: 2, size: 100 };
  const kept = viewFrom(updates(first, second));
  assert.deepEqual([kept.usage, kept.cost], [{ used: 2, size: 100 }, cost]);
  assert.equal(viewFrom(updates(first, { ...second, cost: null })).cost, undefined);
});

test("the session's title and time are patched", () => {
  const view = viewFrom(
    updates(
      {
        sessionUpdate: "session_info_update",
        title: "T",
        updatedAt: "2026-01-01T00:00:00Z",
        _meta: { a: 1 },
      },
      { sessionUpdate: "session_info_update", updatedAt: null, _meta: { b: 2 } },
    ),
  );
  assert.deepEqual([view.title, view.updatedAt, view._meta], ["T", undefined, { a: 1, b: 2 }]);
});

test("C66 a subagent is an item of its parent, patched by its session id; one without a state is not idle", () => {
  const view = viewFrom(
    updates(
      { sessionUpdate: "subagent_update", sessionId: "child", title: "Tests", state: { state: "running" } },
      { sessionUpdate: "subagent_update", sessionId: "child", description: "writes tests", state: null },
    ),
  );
  const item = view.subagents.get("child");
  assert.equal(view.timeline[0], item);
  assert.deepEqual([item?.title, item?.description, item?.state], ["Tests", "writes tests", undefined]);
});

test("notices stand where they came, each by itself", () => {
  const notice: SessionUpdate = { sessionUpdate: "notice", severity: "warning", title: "Slow model" };
  const view = viewFrom(updates(notice, notice));
  assert.deepEqual(
    view.timeline.map((item) => [item.key, item.kind === "notice" && item.notice.title]),
    [
      ["notice:1", "Slow model"],
      ["notice:2", "Slow model"],
    ],
  );
});

test("updates of a kind that nobody knows are kept as they came (X9, N122)", () => {
  const raw = { sessionUpdate: "current_model_update", modelId: "m" };
  // A tag that is not known has no literal type.
  const wrapped = { sessionUpdate: raw.sessionUpdate, unknown: true, raw } as unknown as SessionUpdate;
  const view = viewFrom(updates(wrapped, raw as unknown as SessionUpdate));
  const shown = view.timeline.map((item) => item.kind === "unknown" && [item.sessionUpdate, item.raw]);
  assert.deepEqual(shown, [
    ["current_model_update", raw],
    ["current_model_update", raw],
  ]);
});
