// What `--format text` and exports make of everything that an agent can say, by the real command.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { eventsOf, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const v2 = { editions: ["v2"] } as const;

const text = (words: string) => ({ type: "text", text: words });
const chunk = (messageId: string, words: string, sessionUpdate = "agent_message_chunk") => ({
  rawUpdate: { sessionUpdate, messageId, content: text(words) },
});
const whole = (messageId: string, words: string, sessionUpdate = "agent_message") => ({
  rawUpdate: { sessionUpdate, messageId, content: [text(words)] },
});
const plan = (fields: object) => ({ rawUpdate: { sessionUpdate: "plan_update", plan: fields } });
const items = (...entries: readonly (readonly [string, string])[]) =>
  plan({
    type: "items",
    planId: "p",
    entries: entries.map(([content, status]) => ({ content, status, priority: "low" })),
  });
const usage = { sessionUpdate: "usage_update", used: 53_000, size: 200_000 };

suite("text", () => {
  test("a message that comes whole is printed once, however often it comes", patience, async () => {
    const { status, stdout } = await probe.run({
      ...v2,
      otherwise: [
        whole("t", "a whole thought", "agent_thought"),
        chunk("m", "Hel"),
        chunk("m", "lo world. "),
        whole("m", "Hello world. "),
        // many leave out the last blank
        whole("m", "Hello world."),
        whole("n", "As one."),
        whole("n", "As one. And more."),
      ],
    });
    assert.equal(status, 0);
    assert.equal(stdout, "| a whole thought\n\nHello world. \n\nAs one. And more.\n");
  });

  test("a message that takes the place of what was printed is printed again, marked", patience, async () => {
    const { stdout } = await probe.run({
      ...v2,
      otherwise: [
        chunk("t", "hm", "agent_thought_chunk"),
        whole("t", "ho", "agent_thought"),
        chunk("m", "Hello wrld."),
        whole("m", "Hello world."),
        chunk("m", " Bye."),
        whole("m", "Hello world. Bye."),
      ],
    });
    assert.equal(stdout, "| hm\n\n| ↻ ho\n\nHello wrld.\n\n↻ Hello world. Bye.\n");
  });

  test("what a message says after a call is printed after it", patience, async () => {
    const call = { sessionUpdate: "tool_call_update", toolCallId: "t", title: "Look", status: "completed" };
    const { stdout } = await probe.run({
      ...v2,
      otherwise: [chunk("m", "One."), { rawUpdate: call }, whole("m", "One. Two.")],
    });
    assert.equal(stdout, "One.\n\n✓ Look\n\n Two.\n");
  });

  test("plans of every kind, compactions and notices are printed", patience, async () => {
    const compaction = { sessionUpdate: "compaction_update", compactionId: "c" };
    const { stdout } = await probe.run({
      ...v2,
      otherwise: [
        plan({ type: "markdown", planId: "a", content: "# Plan\n- one\u001b[2J" }),
        plan({ type: "file", planId: "b", uri: "file:///tmp/plan.md" }),
        plan({ type: "file", planId: "b", uri: "file:///tmp/plan.md" }),
        { rawUpdate: { ...compaction, status: "in_progress" } },
        { rawUpdate: { ...compaction, status: "completed", summary: [text("short")] } },
        { rawUpdate: { ...compaction, compactionId: "d", status: "failed", error: "no model" } },
        { notice: { severity: "warning", title: "Careful", description: "the disk is full" } },
        { say: "fine" },
      ],
    });
    assert.equal(
      stdout,
      [
        "# Plan\n- one",
        "plan: file:///tmp/plan.md",
        "! conversation compacted",
        "! conversation not compacted (failed): no model",
        "! Careful\n  the disk is full",
        "",
        "fine\n",
      ].join("\n"),
    );
  });

  test("of a plan, what is being done and what is done is told apart", patience, async () => {
    const { stdout } = await probe.run([
      items(["One", "in_progress"], ["Two", "pending"], ["Three", "cancelled"]),
      items(["One", "completed"], ["Two", "in_progress"], ["Three", "cancelled"]),
      items(["One", "completed"], ["Two", "completed"], ["Three", "cancelled"]),
    ]);
    assert.equal(stdout, "◐ One\n☐ Two\n☒ Three\n☑ One\n◐ Two\n☑ Two\n");
  });

  test("tokens, context and cost are told at the end, where the agent says them", patience, async () => {
    const tokens = { tokens: { totalTokens: 1234, inputTokens: 1000, outputTokens: 234 } };
    const cost = { amount: 0.4217, currency: "USD" };
    const scenario = {
      ...v2,
      unstable: ["usage" as const],
      otherwise: [{ say: "fine" }, tokens, { rawUpdate: { ...usage, cost } }],
    };
    const ran = await probe.run(scenario);
    assert.equal(ran.stdout, "fine\n");
    assert.equal(ran.stderr, "parley: 1,234 tokens, context 27 % of 200,000, 0.42 USD\n");
    const end = eventsOf(await probe.run(scenario, ["--json"])).at(-1);
    assert.deepEqual(end?.["context"], { used: 53_000, size: 200_000 });
    assert.deepEqual(end?.["cost"], cost);
    // more than fits is no share of it
    const over = await probe.run([{ say: "fine" }, { rawUpdate: { ...usage, used: 900_000, cost } }]);
    assert.equal(over.stderr, "parley: context 900,000 of 200,000, 0.42 USD\n");
    // how full it is interests nobody who cannot see it grow
    assert.equal((await probe.run([{ say: "fine" }, { rawUpdate: usage }])).stderr, "");
    assert.equal((await probe.run([{ say: "fine" }])).stderr, "");
  });

  test("a failed call without content says why by its raw output", patience, async () => {
    const failed = (rawOutput: unknown, toolCallId: string) => ({
      rawUpdate: {
        sessionUpdate: "tool_call_update",
        toolCallId,
        title: "Fetch",
        status: "failed",
        rawOutput,
      },
    });
    const { stdout } = await probe.run({
      ...v2,
      otherwise: [
        failed({ error: "404 from \u001b[31mthe server" }, "a"),
        failed("no network", "b"),
        failed({ code: 7 }, "c"),
        failed({ code: "x".repeat(9000) }, "d"),
      ],
    });
    const [a, b, c, d = ""] = stdout.split("✗ Fetch\n").slice(1);
    assert.deepEqual([a, b, c], ["    404 from the server\n", "    no network\n", '    {"code":7}\n']);
    assert.ok(d.length < 1200, d);
  });
});

test(
  "an export has the paths of changes, descriptions of notices, every plan, and the usage",
  patience,
  async () => {
    const diff = { type: "diff", changes: [{ operation: "add", path: "/tmp/new.txt" }] };
    const call = { toolCallId: "e", title: "Edit", kind: "edit", status: "completed", content: [diff] };
    const failed = { toolCallId: "f", title: "Fetch", status: "failed", rawOutput: { error: "404" } };
    const compaction = { sessionUpdate: "compaction_update", compactionId: "c", status: "completed" };
    const agent = probe.agent({
      ...v2,
      otherwise: [
        { rawUpdate: { sessionUpdate: "tool_call_update", ...call } },
        { rawUpdate: { sessionUpdate: "tool_call_update", ...failed } },
        { notice: { severity: "warning", title: "Careful", description: "the disk is full" } },
        { rawUpdate: { ...compaction, summary: [text("in short")] } },
        plan({ type: "markdown", planId: "a", content: "# Mine\n- one" }),
        plan({ type: "file", planId: "b", uri: "file:///tmp/plan.md" }),
        items(["One", "completed"]),
        { rawUpdate: { ...usage, cost: { amount: 0.42, currency: "USD" } } },
        { say: "fine" },
      ],
    });
    assert.equal((await probe.parley(["run", "--session", "all", "x", "--", ...agent])).status, 0);
    const { stdout } = await probe.parley(["sessions", "export", "all"]);
    for (const part of [
      "**Edit** (edit, completed)\n\n- add `/tmp/new.txt`",
      "failed)\n\n```\n404\n```",
      "*warning:* Careful: the disk is full",
      "*The conversation was compacted (completed).*\n\n> in short",
      "> # Mine\n> - one",
      "[plan](file:///tmp/plan.md)",
      "- [x] One",
      "- context: 53000 of 200000 tokens\n- cost: 0.42 USD",
    ])
      assert.ok(stdout.includes(part), `${part}\n---\n${stdout}`);
  },
);
