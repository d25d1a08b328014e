import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edition } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import {
  type AgentScenario,
  type ClientRecord,
  type ClientScenario,
  type ClientStep,
  scriptedAgent,
  scriptedClient,
} from "@parley/conformance/testing";

const noTime = { sleep: async () => undefined };

/** One agent and one client back to back, and what the client saw. */
async function played(
  agentScenario: Omit<AgentScenario, "parley" | "version">,
  clientScenario: Omit<ClientScenario, "parley" | "version">,
) {
  const [near, far] = memoryPair();
  const agent = scriptedAgent({ parley: "agent-scenario", version: 1, ...agentScenario }, { clock: noTime });
  const served = agent.connect(far);
  const client = scriptedClient(
    { parley: "client-scenario", version: 1, ...clientScenario },
    { clock: noTime },
  );
  const record = await client.run(near);
  await served.closed;
  return { record, events: agent.events };
}

function inBothVersions(name: string, run: (editions: readonly [Edition]) => Promise<void>): void {
  for (const version of [1, 2] as const) {
    test(`${name} (v${version})`, { timeout: 10_000 }, () => run([`v${version}`]));
  }
}

const outcomes = ({ steps }: ClientRecord) =>
  steps.filter(({ step }) => step === "prompt").map(({ result }) => result);

interface ShownItem {
  readonly kind: string;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly status?: string;
}

/** What the user sees: the kinds of item, with their texts and statuses. */
function shown({ sessions }: ClientRecord, session = "main"): string[] {
  const { timeline } = sessions[session]!.view as { timeline: readonly ShownItem[] };
  return timeline.map(({ kind, content = [], status }) => {
    const words = content.map((block) => block.text ?? block.type).join("");
    return [kind, status, words].filter(Boolean).join(": ");
  });
}

const hello: ClientStep[] = [{ open: "/project" }, { prompt: "hello" }];

inBothVersions(
  "turns are taken in order, those for a text when it comes, then what is there otherwise",
  async (editions) => {
    const { record, events } = await played(
      {
        turns: [
          { when: "second", steps: [{ say: "I was asked for this." }] },
          { when: { contains: "thi" }, steps: [{ say: "And for that." }] },
          { steps: [{ think: "hm" }, { say: "You said " }, { say: "{{prompt}} in {{cwd}}." }] },
          { steps: [{ say: "The next one." }, { end: "max_tokens" }] },
        ],
        otherwise: [{ say: "That was all." }],
      },
      {
        editions,
        steps: [...hello, { prompt: "second" }, { prompt: "third" }, { prompt: "a" }, { prompt: "b" }],
      },
    );
    assert.deepEqual(shown(record), [
      "user_message: hello",
      "agent_thought: hm",
      "agent_message: You said hello in /project.",
      "user_message: second",
      "agent_message: I was asked for this.",
      "user_message: third",
      "agent_message: And for that.",
      "user_message: a",
      "agent_message: The next one.",
      "user_message: b",
      "agent_message: That was all.",
    ]);
    assert.deepEqual(
      outcomes(record).map((outcome) => (outcome as { stopReason: string }).stopReason),
      ["end_turn", "end_turn", "end_turn", "max_tokens", "end_turn"],
    );
    assert.deepEqual(
      events.map(({ text }) => text),
      ["hello", "second", "third", "a", "b"],
    );
  },
);

const careful: AgentScenario["turns"] = [
  {
    steps: [
      {
        tool: { title: "Write a.txt", kind: "edit" },
        steps: [
          {
            ask: true,
            on: {
              allow_once: [{ diff: { path: "/project/a.txt", newText: "a\n" } }],
              refused: [{ failTool: "the user said no" }],
            },
          },
        ],
      },
      { say: "Done." },
    ],
  },
];

inBothVersions("an answer to a question decides what follows", async (editions) => {
  const allowed = await played({ turns: careful }, { editions, steps: hello });
  assert.deepEqual(shown(allowed.record), [
    "user_message: hello",
    "tool_call: completed: diff",
    "permission",
    "agent_message: Done.",
  ]);
  const refused = await played(
    { turns: careful },
    { editions, permissions: [{ answer: { kind: "reject_once" } }], steps: hello },
  );
  assert.deepEqual(shown(refused.record), [
    "user_message: hello",
    "tool_call: failed: content",
    "permission",
    "agent_message: Done.",
  ]);
  assert.deepEqual(refused.record.asked, [
    {
      permission: "Write a.txt",
      options: ["allow_once", "allow_always", "reject_once"],
      answer: "reject_once",
    },
  ]);
  assert.deepEqual(refused.events.at(-1), {
    event: "answer",
    title: "this tool call",
    optionId: "reject_once",
  });
});

inBothVersions("a prompt is cancelled at a permission, at once, and after an update", async (editions) => {
  const { record, events } = await played(
    {
      turns: [
        ...careful,
        { when: "wait", steps: [{ say: "one" }, { say: "two" }, { wait: "cancelled" }, { say: " late" }] },
      ],
    },
    {
      editions,
      steps: [
        { open: "/project" },
        { prompt: "ask", cancel: "at-permission" },
        { prompt: "wait", cancel: { update: "agent_message_chunk", nth: 2 } },
        { prompt: "wait", cancel: "at-once" },
      ],
    },
  );
  assert.deepEqual(outcomes(record), Array(3).fill({ stopReason: "cancelled" }));
  assert.deepEqual(record.asked, [{ permission: "Write a.txt", answer: "the prompt is cancelled" }]);
  assert.equal(events.filter(({ event }) => event === "cancelled").length >= 1, true);
});

inBothVersions("two runs give the same record", async (editions) => {
  const run = async () => (await played({ turns: careful }, { editions, steps: hello })).record;
  assert.deepEqual(await run(), await run());
});

const isReached = async (gate: Promise<void>) => {
  let reached = false;
  void gate.then(() => {
    reached = true;
  });
  await Promise.resolve();
  return reached;
};

test("gates synchronise a test with a script, and a delay uses the injected clock", async () => {
  const [near, far] = memoryPair();
  const slept: number[] = [];
  const clock = { sleep: async (milliseconds: number) => void slept.push(milliseconds) };
  const agent = scriptedAgent(
    {
      parley: "agent-scenario",
      version: 1,
      otherwise: [{ say: "before" }, { wait: { gate: "go" } }, { delay: 60_000 }, { say: " after" }],
    },
    { clock },
  );
  agent.connect(far);
  const run = scriptedClient({ parley: "client-scenario", version: 1, steps: hello }).run(near);
  assert.equal(await isReached(agent.reached("go")), false);
  await agent.reached("go");
  agent.open("go");
  assert.deepEqual(shown(await run), ["user_message: hello", "agent_message: before after"]);
  assert.deepEqual(slept, [60_000]);
});

test("a client opens the gates of an agent, wherever it runs", async () => {
  const { record } = await played(
    { otherwise: [{ say: "ready" }, { wait: { gate: "go" } }, { say: ", gone" }] },
    {
      steps: [
        { open: "/project" },
        { prompt: "hello", wait: false },
        { until: { update: "agent_message_chunk" } },
        { openGate: "go" },
        { settle: true },
      ],
    },
  );
  assert.deepEqual(shown(record), ["user_message: hello", "agent_message: ready, gone"]);
});

test("a prompt that comes while a turn runs is taken from the inbox", async () => {
  const { record, events } = await played(
    {
      concurrentPrompts: "inbox",
      turns: [{ steps: [{ say: "first" }, { take: true, as: "more" }, { say: ", then {{more}}" }] }],
    },
    {
      editions: ["v2"],
      steps: [
        { open: "/project" },
        { prompt: "hello", wait: false },
        { until: { update: "agent_message_chunk" } },
        { prompt: "something else" },
        { settle: true },
      ],
    },
  );
  assert.deepEqual(events, [
    { event: "prompt", text: "hello" },
    { event: "taken", text: "something else" },
  ]);
  assert.ok(outcomes(record).some((outcome) => (outcome as { joined?: true }).joined === true));
});

inBothVersions("a late answer, and none at all, are answers too", async (editions) => {
  const [near, far] = memoryPair();
  const agent = scriptedAgent({
    parley: "agent-scenario",
    version: 1,
    otherwise: [
      { ask: "Late?", on: { allowed: [{ say: "thanks" }] } },
      { ask: "Never?" },
      { say: "not reached" },
    ],
  });
  agent.connect(far);
  const client = scriptedClient({
    parley: "client-scenario",
    version: 1,
    editions,
    permissions: [
      { when: "Late", answer: { kind: "allow_once" }, gate: "answer" },
      { when: "Never", answer: "never", gate: "asked" },
    ],
    steps: [{ open: "/project" }, { prompt: "hello", cancel: { gate: "cancel" } }],
  });
  const run = client.run(near);
  await client.reached("answer");
  client.open("answer");
  await client.reached("asked");
  client.open("asked");
  client.open("cancel");
  const record = await run;
  assert.deepEqual(outcomes(record), [{ stopReason: "cancelled" }]);
  assert.deepEqual(
    record.asked.map((asked) => (asked as { answer: string }).answer),
    ["allow_once", "withdrawn"],
  );
});

inBothVersions(
  "requests are refused as the scenario says, and capabilities are taken back",
  async (editions) => {
    const key = editions[0] === "v1" ? "agentCapabilities" : "capabilities";
    const without =
      editions[0] === "v1"
        ? { sessionCapabilities: { list: null } }
        : { session: { list: null, delete: null } };
    const { record } = await played(
      {
        wire: {
          replies: [
            { method: "initialize", patch: { [key]: without } },
            { method: "session/new", nth: 1, error: { code: -32067, message: "come back later" } },
          ],
        },
      },
      {
        editions,
        steps: [{ open: "/project" }, { open: "/project" }, { prompt: "hello" }, { delete: "main" }],
      },
    );
    const [refused, opened, , deleted] = record.steps;
    assert.deepEqual(refused?.error, { code: -32067, message: "come back later" });
    assert.equal(opened?.error, undefined);
    if (editions[0] === "v2") assert.match(String(deleted?.error?.message), /does not delete sessions/);
  },
);

inBothVersions("a bug of the agent's is an internal error", async (editions) => {
  const { record } = await played(
    { otherwise: [{ say: "now" }, { fail: "bug" }] },
    { editions, steps: hello },
  );
  const [outcome] = outcomes(record) as { stopReason: string; error: { code: number } }[];
  assert.equal(outcome?.stopReason, "error");
  assert.equal(outcome?.error.code, -32603);
});
