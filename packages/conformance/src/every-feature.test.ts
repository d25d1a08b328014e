import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProtocolVersion } from "@parley/acp/internal";
import { memoryPair } from "@parley/acp/transport";
import { everyFeature } from "@parley/conformance";
import { scriptedAgent, scriptedClient } from "@parley/conformance/testing";
import { checkAgentScenario, checkClientScenario } from "./testing/check-scenario.ts";
import { comparable } from "./testing/client-record.ts";

const limit = { timeout: 60_000 };

async function played(version: ProtocolVersion) {
  const [near, far] = memoryPair();
  const agent = scriptedAgent({ ...everyFeature.agent, editions: [`v${version}`] });
  const served = agent.connect(far);
  const record = await scriptedClient({ ...everyFeature.client, editions: [`v${version}`] }).run(near);
  await served.closed;
  return { record, events: agent.events };
}

for (const version of [1, 2] as const) {
  test(`every feature: two runs give the same record (v${version})`, limit, async () => {
    assert.deepEqual(await played(version), await played(version));
  });

  test(`every feature: every step ends as it should (v${version})`, limit, async () => {
    const { record, events } = await played(version);
    const failed = record.steps.filter(({ error }) => error !== undefined);
    assert.deepEqual(
      failed.map(({ step, error }) => [step, error?.code]),
      [
        ["setConfigOption", -32602],
        ["load", -32002],
      ],
    );
    const outcomes = record.steps.flatMap(({ step, result }) =>
      step === "prompt" ? [(result as { stopReason: string }).stopReason] : [],
    );
    assert.deepEqual(outcomes, [
      ...Array(5).fill("end_turn"),
      "max_tokens",
      ...Array(2).fill("end_turn"),
      "cancelled",
      "refusal",
      "max_turn_requests",
      "error",
      ...Array(3).fill("end_turn"),
    ]);
    assert.deepEqual(
      record.asked.map((asked) => (asked as { answer?: unknown }).answer ?? asked),
      [
        "allow_once",
        "reject_once",
        "go",
        { action: "accept", content: { name: "Ann", age: 7 } },
        { action: "accept" },
        { completed: "login-1" },
        { action: "decline" },
      ],
    );
    assert.deepEqual(
      events.filter(({ event }) => event === "login").length,
      2,
      "once at the start, and once more after the logout",
    );
  });
}

test("every feature: both versions show the same, except for what one cannot express", limit, async () => {
  const [one, two] = [await played(1), await played(2)];
  assert.deepEqual(comparable(one.record), comparable(two.record));
});

test("every feature: files and terminals are the client's in version 1 only", limit, async () => {
  const [one, two] = [await played(1), await played(2)];
  assert.equal(one.record.files["/project/written.txt"], "written by the agent\n");
  assert.equal(one.record.services.length, 15);
  assert.deepEqual(two.record.services, []);
  const unavailable = two.events.filter(({ event }) => event === "unavailable").map(({ what }) => what);
  assert.deepEqual(unavailable, ["files", "files", "files", "files", "terminals", "terminals", "terminals"]);
});

test("every feature: the view has everything", limit, async () => {
  const { record } = await played(2);
  const view = record.sessions.main?.view as Record<string, unknown>;
  const kinds = new Set((view.timeline as { kind: string }[]).map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), [
    "agent_message",
    "agent_thought",
    "compaction",
    "elicitation",
    "notice",
    "permission",
    "tool_call",
    "unknown",
    "user_message",
  ]);
  assert.deepEqual(
    (view.files as { path: string; operations: string[] }[]).map(({ path, operations }) => [
      path,
      operations,
    ]),
    [
      ["/project/a.txt", ["read", "modify"]],
      ["/project/new.txt", ["add"]],
    ],
  );
  assert.equal(view.title, "Everything, and more");
  assert.deepEqual(view.usage, { used: 1400, size: 200_000 });
  assert.deepEqual(view.cost, { amount: 0.25, currency: "EUR" });
  assert.deepEqual(view.mode, { configId: "mode", value: "ask", name: "Ask" });
  assert.deepEqual(
    (view.commands as { name: string }[]).map(({ name }) => name),
    ["help", "search"],
  );
  assert.deepEqual(
    (view.configOptions as { configId: string; currentValue: unknown }[]).map(
      (option) => option.currentValue,
    ),
    ["ask", "large", true],
  );
  assert.equal((view.plans as unknown[]).length, 1);
  assert.deepEqual(
    (view.timeline as { kind: string; status?: string }[])
      .filter(({ kind }) => kind === "tool_call")
      .map(({ status }) => status),
    [
      "completed",
      "completed",
      "failed",
      "completed",
      "completed",
      "failed",
      "completed",
      "completed",
      "completed",
      "cancelled",
    ],
  );
});

test("a scenario fits into a file: it is the same after a trip through JSON", () => {
  const file = JSON.parse(JSON.stringify(everyFeature));
  assert.deepEqual(checkAgentScenario(file.agent), everyFeature.agent);
  assert.deepEqual(checkClientScenario(file.client), everyFeature.client);
});
