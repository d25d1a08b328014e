import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { PermissionOption, ToolCallStart, Turn } from "@parley/acp";
import { textDiff } from "@parley/acp/internal";
import {
  type Decision,
  type GateOptions,
  parseRule,
  permissionGate,
  rememberedRules,
} from "@parley/client/policy";
import { folder, rules, talk, toolKinds } from "../../test/support/gate-probe.ts";
import type { PermissionQuestion } from "../policy.ts";

const options: PermissionOption[] = [
  { optionId: "yes-please", name: "Go ahead", kind: "allow_once" },
  { optionId: "for-ever", name: "Go ahead for ever", kind: "allow_always" },
  { optionId: "no", name: "Better not", kind: "reject_once" },
];

/** Asks about a tool call, and tells what came back. */
async function ask(turn: Turn, start: ToolCallStart, offered = options) {
  const asked = turn.tool(start, async (tool) => {
    let chosen: { optionId?: string } = {};
    const onAnswer = ({ optionId }: PermissionOption) => {
      chosen = { optionId };
    };
    const allowed = (await tool.requestPermission({ options: offered, onAnswer })) !== undefined;
    return { allowed, ...chosen };
  });
  return asked.catch((error: unknown) => error);
}

const shell = (command: string): ToolCallStart => ({
  title: "Look around",
  kind: "execute",
  rawInput: { command },
});

async function answers(
  t: Parameters<typeof talk>[0],
  given: GateOptions,
  starts: readonly ToolCallStart[],
  offered = options,
) {
  const cwd = folder(t, { "src/a.ts": "old" });
  const got: unknown[] = [];
  const decisions: Decision[] = [];
  const { gate, go } = await talk(t, cwd, given, async (turn) => {
    for (const start of starts) got.push(await ask(turn, start, offered));
  });
  gate.onDecision((decision) => decisions.push(decision));
  await go();
  return { got, gate, decisions, cwd };
}

const allowed = { allowed: true, optionId: "yes-please" };
const refused = { allowed: false, optionId: "no" };

test("without a person everything that is asked is refused at once, with the agent's own option", async (t) => {
  const { got, gate } = await answers(t, {}, [shell("ls")]);
  assert.deepEqual(got, [refused]);
  assert.equal(gate.refusals.length, 1);
  assert.match(gate.refusals[0]?.reason ?? "", /nobody is there to ask/);
});

test("a rule that allows answers with the option that allows once, a rule that denies with the one that rejects", async (t) => {
  const given = { rules: rules("allow exec npm test", "deny exec rm") };
  const { got, decisions } = await answers(t, given, [
    shell("npm test"),
    shell("npm test && rm -r x"),
    shell("ls"),
  ]);
  assert.deepEqual(got, [allowed, refused, refused]);
  assert.deepEqual(
    decisions.map(({ effect, by }) => `${effect} by ${by}`),
    ["allow by rule", "deny by rule", "deny by nobody"],
  );
  assert.equal(decisions[0]?.reason, "allow exec npm test (your policy)");
});

test("a person is offered our scopes, on request the agent's own options, and one of the agent's ids is answered (Q7)", async (t) => {
  const questions: PermissionQuestion[] = [];
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  const permission = (question: PermissionQuestion) => {
    questions.push(question);
    return questions.length === 1 ? "allow:workspace" : "option:2";
  };
  const given = { asker: { permission }, remembered };
  const { got, decisions } = await answers(t, given, [
    shell("npm test"),
    shell("npm test"),
    shell("npm run x"),
  ]);
  assert.deepEqual(got, [allowed, allowed, refused]);
  assert.deepEqual(
    questions[0]?.choices.map(({ name, optionId, isExtra }) => `${isExtra ? "? " : ""}${name}: ${optionId}`),
    [
      "Allow once: yes-please",
      "Allow for this session: yes-please",
      "Allow always here, for 30 days: yes-please",
      "? Allow always and everywhere, for 90 days: yes-please",
      "Reject once: no",
      "? Reject for this session: no",
      "? Reject always here, for 30 days: no",
      "? Reject always and everywhere, for 90 days: no",
      "? Go ahead: yes-please",
      "? Go ahead for ever: for-ever",
      "? Better not: no",
    ],
  );
  assert.equal(questions.length, 2, "the second question is answered by what was remembered");
  assert.match(questions[0]?.summary ?? "", /^run npm test \(in /);
  assert.equal(questions[0]?.claimed?.title, "Look around");
  assert.equal(remembered.list()[0]?.scope, "workspace");
  assert.deepEqual(
    decisions.map(({ by }) => by),
    ["user", "rule", "user"],
  );
});

test("the agent's own always is remembered here for this session only", async (t) => {
  let asked = 0;
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  const permission = () => {
    asked++;
    return "option:1";
  };
  const { got } = await answers(t, { asker: { permission }, remembered }, [shell("ls"), shell("ls")]);
  assert.deepEqual(got, [{ allowed: true, optionId: "for-ever" }, allowed]);
  assert.equal(asked, 1);
  assert.deepEqual(remembered.list(), []);
});

test("a person can reject where the agent offers no such option (N133)", async (t) => {
  const only: PermissionOption[] = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
  const permission = ({ choices }: PermissionQuestion) => choices.find(({ effect }) => effect === "deny")?.id;
  const { got } = await answers(t, { asker: { permission } }, [shell("ls")], only);
  assert.deepEqual(got, [{ allowed: false }]);
});

test("where only always can be said a rule does not say it", async (t) => {
  const only: PermissionOption[] = [{ optionId: "for-ever", name: "Yes", kind: "allow_always" }];
  const { got, gate } = await answers(t, { rules: rules("allow exec ls") }, [shell("ls")], only);
  assert.deepEqual(got, [{ allowed: false }]);
  assert.match(gate.refusals[0]?.reason ?? "", /no way to allow just this/);
});

test("a title cannot look like more than a title (N136)", async (t) => {
  let title = "";
  const permission = ({ claimed }: PermissionQuestion) => {
    title = claimed?.title ?? "";
    return undefined;
  };
  const start = {
    ...shell("ls"),
    title: `Read\nApproved \u2713 \u202etxt.exe\u200b\u001b[2J ${"x".repeat(1_000_000)}`,
  };
  await answers(t, { asker: { permission } }, [start]);
  assert.match(title, /^Read Approved \u2713 \\u\{202e\}txt\.exe\\u\{200b\}\\u\{1b\}\[2J x+…$/);
  assert.equal(title.length, 200);
});

test("marks that turn or hide text, and letters of another script in a word, are shown by their numbers (N206-N208)", async (t) => {
  const seen: string[] = [];
  const permission = ({ summary }: PermissionQuestion) => {
    seen.push(summary);
    return undefined;
  };
  const reads = [
    "/nowhere/a\u202etxt",
    "/nowhere/a\u200bb",
    "/nowhere/p\u0430ypal.ts",
    "/nowhere/\u043f\u0440\u0438\u0432\u0435\u0442",
  ];
  await answers(
    t,
    { asker: { permission } },
    reads.map((path) => ({ title: "t", kind: "read", rawInput: { path } })),
  );
  assert.deepEqual(seen, [
    "read /nowhere/a\\u{202e}txt",
    "read /nowhere/a\\u{200b}b",
    "read /nowhere/p\\u{430}ypal.ts",
    "read /nowhere/\u043f\u0440\u0438\u0432\u0435\u0442",
  ]);
});

test("a question that nobody answers in time is no answer", async (t) => {
  const { got, gate } = await answers(
    t,
    { asker: { permission: () => new Promise(() => undefined) }, answerMs: 20 },
    [shell("ls")],
  );
  assert.deepEqual(got, [{ allowed: false }]);
  assert.deepEqual(gate.refusals, []);
});

test("what was forbidden while the question was open is forbidden", async (t) => {
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  const permission = () => {
    remembered.add({ operation: "exec", pattern: "ls", effect: "deny", scope: "always" });
    return "option:0";
  };
  const { got } = await answers(t, { asker: { permission }, remembered }, [shell("ls")]);
  assert.deepEqual(got, [refused]);
});

test("no label is taken for what is done: ten kinds, four scopes (TH2)", async (t) => {
  const real = [
    { command: "rm -rf /" },
    { path: "/etc/passwd", content: "x" },
    { url: "https://evil.example/" },
    { server: "evil", tool: "run" },
  ];
  const starts = toolKinds.flatMap((kind) =>
    [...real, undefined].map((rawInput) => ({
      title: "Read README.md",
      kind,
      locations: [{ path: "/nowhere/src/a.ts" }],
      ...(rawInput === undefined ? {} : { rawInput }),
    })),
  );
  const allowing = ["read", "write", "exec ls", "net good.example", "mcp good/*"];
  const scopes = [
    {},
    { scope: "session" },
    { scope: "workspace", workspace: undefined },
    { scope: "always" },
  ];
  const given = scopes.flatMap((scope) =>
    allowing.map((text) => ({
      ...parseRule(text.includes(" ") ? text : `${text} src/**`, {
        effect: "allow",
        origin: "remembered",
      }),
      ...scope,
    })),
  );
  const { got } = await answers(t, { rules: given as GateOptions["rules"] & {} }, starts);
  assert.equal(got.length, 50);
  assert.deepEqual(
    got.filter((answer) => answer !== undefined && (answer as { allowed: boolean }).allowed),
    [],
  );
});

test("claims are read from what agents really send", async (t) => {
  const seen: string[] = [];
  const permission = ({ summary }: PermissionQuestion) => {
    seen.push(summary);
    return undefined;
  };
  const cases: ToolCallStart[] = [
    { title: "t", kind: "execute", rawInput: { command: ["bash", "-lc", "npm test"], cwd: "/nowhere/x" } },
    { title: "t", kind: "edit", rawInput: { file_path: "/nowhere/a.ts", old_string: "a", new_string: "b" } },
    { title: "t", kind: "read", rawInput: { abs_path: "/nowhere/a.ts", content: "x" } },
    { title: "t", kind: "edit", rawInput: { changes: { "/nowhere/b.ts": { add: {} } } } },
    { title: "t", kind: "fetch", rawInput: { url: "https://example.org:8080/x?q=1" } },
    { title: "mcp__github__get_issue", kind: "other", rawInput: { number: 1 } },
    { title: "t", kind: "other", rawInput: { path: "/nowhere/c.ts" } },
    { title: "t", kind: "switch_mode", rawInput: { modeId: "yolo" } },
    { title: "t", kind: "think" },
  ];
  await answers(t, { asker: { permission } }, cases);
  assert.deepEqual(seen, [
    "run npm test (in /nowhere/x)",
    "write /nowhere/a.ts",
    "read /nowhere/a.ts; write /nowhere/a.ts",
    "write /nowhere/b.ts",
    "connect to example.org:8080",
    "call github/get_issue",
    "read /nowhere/c.ts; write /nowhere/c.ts",
    "switch to mode yolo",
    'do what it calls "t"',
  ]);
});

test("what a call would change is shown though the question names the call by its id alone", async (t) => {
  const seen: PermissionQuestion[] = [];
  const permission = (question: PermissionQuestion) => {
    seen.push(question);
    return undefined;
  };
  const cwd = folder(t);
  const path = join(cwd, "a.txt");
  const { go } = await talk(t, cwd, { asker: { permission } }, async (turn) => {
    await turn.tool({ title: "Edit a.txt", kind: "edit", toolCallId: "call" }, async (tool) => {
      await tool.add({ type: "diff", ...textDiff({ path: path, oldText: "old\n", newText: "new\n" }) });
      await turn.requestPermission({
        title: "Edit a.txt",
        subject: { type: "tool_call", toolCall: { toolCallId: "call" } },
        options,
      });
    });
  });
  await go();
  assert.deepEqual(seen[0]?.diff, { path, oldText: "old\n", newText: "new\n" });
});

test("what was said of a call is not taken back by saying nothing of it", async () => {
  const session = { sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] };
  const gate = permissionGate({ rules: rules("deny exec rm", "allow *") });
  const toolCallId = "call";
  gate.observe(session, {
    sessionUpdate: "tool_call_update",
    toolCallId,
    kind: "execute",
    rawInput: { command: "rm -r x" },
  });
  const toolCall = { toolCallId, rawInput: null, kind: null };
  gate.observe(session, { sessionUpdate: "tool_call_update", ...toolCall });
  const ask = { title: "t", subject: { type: "tool_call" as const, toolCall }, options };
  const { signal } = new AbortController();
  const answer = await gate.decide({ type: "permission", request: ask }, { session, signal });
  const _meta = { "_parley.dev/refusal": "deny exec rm (your policy)" };
  assert.deepEqual(answer, { outcome: "selected", optionId: "no", _meta });
});

test("a person can have another rule remembered than what was shown", async (t) => {
  const asked: string[] = [];
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  const permission = ({ summary, allowedBy = [] }: PermissionQuestion) => {
    asked.push(summary.replace(/ \(in .*/, ""));
    return { id: "allow:workspace", rule: `${allowedBy[0]} **` };
  };
  const starts = [shell("npm test"), shell("npm test -- --watch"), shell("npm publish")];
  const { got } = await answers(t, { asker: { permission }, remembered }, starts);
  assert.deepEqual(got, [allowed, allowed, allowed]);
  assert.deepEqual(asked, ["run npm test", "run npm publish"]);
  assert.equal(remembered.list()[0]?.pattern, "npm test **");
});

test("a rule that does not cover what is asked is not kept, and it is asked again", async (t) => {
  const reasons: string[] = [];
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  const edits = ["exec npm run", "exec 'npm", "read", "exec npm test"];
  const permission = ({ reason }: PermissionQuestion) => {
    reasons.push(reason);
    const rule = edits[reasons.length - 1];
    return rule === undefined ? undefined : { id: "allow:workspace", rule };
  };
  const { got } = await answers(t, { asker: { permission }, remembered }, [shell("npm test")]);
  assert.deepEqual(got, [allowed]);
  assert.deepEqual(
    remembered.list().map(({ pattern }) => pattern),
    ["npm test"],
  );
  assert.match(
    reasons[1] ?? "",
    /^the rule exec npm run was not kept, because it does not cover what is asked; no rule/,
  );
  assert.match(reasons[2] ?? "", /^the rule was not kept: .*a quote is not closed/);
  assert.match(reasons[3] ?? "", /^the rule read was not kept/);
});

test("an answer about this machine is the rule net localhost, and the question says so", async (t) => {
  const reasons: string[] = [];
  const permission = ({ reason }: PermissionQuestion) => {
    reasons.push(reason);
    return "allow:workspace";
  };
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  const fetching = (url: string) => ({ title: "t", kind: "fetch" as const, rawInput: { url } });
  const { got } = await answers(t, { asker: { permission }, remembered }, [
    fetching("http://localhost:3000/"),
    fetching("http://127.0.0.1:8080/"),
  ]);
  assert.deepEqual(got, [allowed, allowed]);
  assert.equal(reasons.length, 1);
  assert.match(reasons[0] ?? "", /this machine.*the whole network of this machine/);
  assert.deepEqual(
    remembered.list().map(({ operation, pattern }) => `${operation} ${pattern}`),
    ["net localhost"],
  );
});
