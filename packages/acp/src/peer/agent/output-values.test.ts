// What an app says is measured by the model, not by the version that its client happens to speak: version 1, which has
// fewer words, must not swallow what version 2 refuses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inEveryVersion, openSession, type Pair, text } from "../../../test/support/peer-probe.ts";
import type { OutgoingUpdate, Turn } from "../../index.ts";

/** What throws, by its message, when the body says it in a turn. */
async function refusals(
  pair: Pair,
  said: readonly ((turn: Turn) => unknown)[],
): Promise<(string | undefined)[]> {
  const got: (string | undefined)[] = [];
  const { session, updates } = await openSession(pair, {
    prompt(turn) {
      for (const say of said) {
        try {
          void say(turn);
          got.push(undefined);
        } catch (error) {
          assert.ok(error instanceof TypeError, String(error));
          got.push(error.message);
        }
      }
    },
  });
  assert.equal((await session.prompt("x").result).stopReason, "end_turn");
  assert.ok(updates.length > 0);
  return got;
}

const update = (value: object) => (turn: Turn) => turn.update(value as OutgoingUpdate);
const diff = (more: object) => ({
  sessionUpdate: "tool_call_update",
  toolCallId: "d",
  title: "T",
  content: [{ type: "diff", changes: [], ...more }],
});

inEveryVersion(
  "G7 X2 X8 a wrong word, field or path of an update is refused where it is said",
  async (pair) => {
    const wrong: [(turn: Turn) => unknown, RegExp][] = [
      [
        update({ sessionUpdate: "usage_update", used: 1, size: 2, mine: 1 }),
        /"usage_update": \/mine must be absent: custom data goes into _meta/,
      ],
      [update({ sessionUpdate: "tool_call_update", toolCallId: "t", mine: 1 }), /\/mine must be absent/],
      [update({ sessionUpdate: "notice", severity: "info", title: "T", mine: 1 }), /\/mine must be absent/],
      [
        update({ sessionUpdate: "tool_call_update", toolCallId: "t", kind: "edti" }),
        /\/kind must be .*edit.*got "edti"/,
      ],
      [
        update({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "doing" }),
        /\/status must be .*in_progress.*got "doing"/,
      ],
      [
        (turn) => turn.plan([{ content: "C", priority: "high", status: "doing" as never }]),
        /\/status must be .*in_progress.*got "doing"/,
      ],
      [update({ sessionUpdate: "made_up" }), /\/sessionUpdate must be .*leading "_", got "made_up"/],
      [update({ sessionUpdate: "made_up", unknown: true, raw: {} }), /got "made_up"/],
      [update({}), /without a kind: \/sessionUpdate must be/],
      [
        (turn) => turn.notice("fatal" as never, "T"),
        /\/severity must be info, warning, error or .*got "fatal"/,
      ],
      [
        (turn) =>
          turn.session.setAvailableCommands([{ type: "made_up", name: "go", description: "d" } as never]),
        /\/availableCommands\/0\/type must be/,
      ],
      [
        (turn) => turn.session.setAvailableCommands([{ type: "command", description: "d" } as never]),
        /\/availableCommands\/0\/name must be string, got nothing/,
      ],
      [
        update(diff({ changes: [{ operation: "add", path: "a.ts" }] })),
        /\/content\/0\/changes\/0\/path must be an absolute path, got "a.ts"/,
      ],
      [update(diff({ path: "a.ts", newText: "x" })), /\/content\/0\/path must be an absolute path/],
      [update(diff({ path: "/a.ts" })), /\/content\/0\/newText must be string, got nothing/],
      [update(diff({ oldText: "x" })), /\/content\/0\/path must be string, got nothing/],
      [update(diff({ path: "/a.ts", newText: 7 })), /\/content\/0\/newText must be string, got number/],
      [update(diff({ path: "/a.ts", newText: "x", oldText: 7 })), /\/oldText must be string, got number/],
      [
        update({ sessionUpdate: "terminal_output_chunk", terminalId: 7, data: "" }),
        /\/terminalId must be string, got number/,
      ],
      [
        update({
          sessionUpdate: "tool_call_update",
          toolCallId: "t",
          content: [{ type: "terminal", terminalId: 7 }],
        }),
        /\/content\/0\/terminalId must be string/,
      ],
      [
        update({ sessionUpdate: "agent_message_chunk", content: text("x") }),
        /\/messageId must be string, got nothing/,
      ],
      [update({ sessionUpdate: "plan_update" }), /\/plan must be/],
      [(turn) => turn.session.setTitle(7 as never), /\/title must be string/],
      [
        (turn) => turn.session.setBackgroundWork([{ type: "made_up" } as never]),
        /\/background\/0\/type must be/,
      ],
    ];
    const got = await refusals(
      pair,
      wrong.map(([say]) => say),
    );
    for (const [i, [, message]] of wrong.entries()) assert.match(got[i] ?? "was taken", message);
  },
);

inEveryVersion("a tool call with a misspelt kind rejects, and its function does not run", async (pair) => {
  let runs = 0;
  const { session } = await openSession(pair, {
    async prompt(turn) {
      await assert.rejects(
        turn.tool({ title: "T", kind: "edti" as never }, () => ++runs),
        { name: "TypeError", message: /\/kind must be .*edit.*got "edti"/ },
      );
    },
  });
  assert.equal((await session.prompt("x")).stopReason, "end_turn");
  assert.equal(runs, 0);
});

inEveryVersion("X8 words of one's own, and what stands beside the schema, are taken", async (pair) => {
  const right = [
    update({ sessionUpdate: "_mine", anything: 1 }),
    update({
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      title: "T",
      kind: "_mine",
      status: "_mine",
    }),
    update(diff({ path: "/a.ts", newText: "x", changes: [{ operation: "add", path: "/a.ts" }] })),
    update({
      sessionUpdate: "tool_call_content_chunk",
      toolCallId: "t",
      content: { type: "diff", changes: [], path: "/a", newText: "x" },
    }),
    update({ sessionUpdate: "notice", severity: "_mine", title: "T", _meta: { mine: 1 } }),
    (turn: Turn) =>
      turn.session.setAvailableCommands([{ type: "_mine", name: "go", description: "d" } as never]),
  ];
  assert.deepEqual(
    await refusals(pair, right),
    right.map(() => undefined),
  );
});

// ---- the two versions agree on everything that can be wrong

const whole: readonly Record<string, unknown>[] = [
  { sessionUpdate: "user_message_chunk", messageId: "m", content: text("x") },
  {
    sessionUpdate: "agent_message_chunk",
    messageId: "m",
    content: { type: "image", data: "", mimeType: "x/y" },
  },
  { sessionUpdate: "agent_message", messageId: "m", content: [text("x")] },
  { sessionUpdate: "agent_thought", messageId: "n", content: [text("x")] },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "t",
    title: "T",
    kind: "edit",
    status: "pending",
    locations: [{ path: "/a", line: 1 }],
    rawInput: {},
    content: [
      { type: "content", content: text("x") },
      {
        type: "diff",
        changes: [{ operation: "modify", path: "/a", fileType: "text" }],
        patch: { format: "git_patch", text: "x" },
      },
      { type: "terminal", terminalId: "u" },
    ],
  },
  {
    sessionUpdate: "tool_call_content_chunk",
    toolCallId: "t",
    content: { type: "content", content: text("x") },
  },
  { sessionUpdate: "terminal_update", terminalId: "u", command: "ls", cwd: "/", output: { data: "eA==" } },
  { sessionUpdate: "terminal_output_chunk", terminalId: "u", data: "eA==" },
  {
    sessionUpdate: "plan_update",
    plan: { type: "items", planId: "p", entries: [{ content: "c", priority: "high", status: "pending" }] },
  },
  {
    sessionUpdate: "available_commands_update",
    availableCommands: [
      { type: "command", name: "go", description: "d", input: { type: "text", hint: "h" } },
    ],
  },
  {
    sessionUpdate: "config_option_update",
    configOptions: [
      { configId: "o", name: "O", type: "boolean", currentValue: true },
      { configId: "s", name: "S", type: "select", currentValue: "a", options: [{ value: "a", name: "A" }] },
    ],
  },
  { sessionUpdate: "session_info_update", title: "T", updatedAt: "2026-01-01T00:00:00Z" },
  { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 1, currency: "EUR" } },
  { sessionUpdate: "notice", severity: "info", title: "T", description: "d" },
  { sessionUpdate: "compaction_update", compactionId: "c", status: "in_progress" },
];

/** Every copy of a value in which one place is wrong, or perhaps is. */
function variants(value: unknown): unknown[] {
  const instead: unknown[] = [null, 7, "", "made_up", [], {}, undefined];
  if (typeof value !== "object" || value === null) return instead;
  const changed = Object.entries(value).flatMap(([key, item]) =>
    variants(item).map((other) => {
      const copy = structuredClone(value) as Record<string, unknown>;
      copy[key] = other;
      return copy;
    }),
  );
  return Array.isArray(value) ? [...instead, ...changed] : [...instead, { ...value, mine: 1 }, ...changed];
}

test("G7 whatever is wrong with an update is refused in version 1 as it is in version 2", async () => {
  const tried = whole.flatMap((each) => [
    each,
    ...variants(each).filter((it) => typeof it === "object" && it !== null),
  ]);
  const verdicts = (version: 1 | 2) =>
    refusals({ editions: [`v${version}`], version }, [
      ...tried.map((value) => (turn: Turn) => turn.update(structuredClone(value) as OutgoingUpdate)),
      (turn) => turn.say("the end"),
    ]);
  const [v1, v2] = [await verdicts(1), await verdicts(2)];
  const differing = tried.filter((_, i) => (v1[i] === undefined) !== (v2[i] === undefined));
  assert.deepEqual(
    differing.map((value) => JSON.stringify(value)),
    [],
  );
  assert.ok(tried.length > 500, `${tried.length} tried`);
  assert.ok(v2.filter((message) => message === undefined).length > whole.length);
});
