// Tests the scope and lifetime of answers.

import assert from "node:assert/strict";
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { PermissionOption, Turn } from "@parley/acp";
import { commandSubject, type GateOptions, permissionGate, rememberedRules } from "@parley/client/policy";
import { folder, rules, talk } from "../../test/support/gate-probe.ts";
import type { PermissionQuestion } from "../policy.ts";

const options: PermissionOption[] = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "for-ever", name: "Yes, for ever", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];

/** Asks about commands, one after the other, and tells about which a person was asked. */
async function askedAbout(
  t: Parameters<typeof talk>[0],
  given: Omit<GateOptions, "asker">,
  commands: readonly {
    readonly command: string;
    readonly cwd?: string;
    readonly env?: Record<string, string>;
  }[],
  answer: string,
): Promise<number[]> {
  const asked: number[] = [];
  let at = 0;
  const permission = () => {
    asked.push(at);
    return answer;
  };
  const cwd = folder(t);
  for (const name of ["one", "two"]) mkdirSync(join(cwd, name));
  const { go } = await talk(t, cwd, { ...given, asker: { permission } }, async (turn) => {
    for (const rawInput of commands) {
      await turn
        .tool({ title: "t", kind: "execute", rawInput }, (tool) => tool.requestPermission({ options }))
        .catch(() => undefined);
      at++;
    }
  });
  await go();
  return asked;
}

test("a line for a shell that was allowed for a session is exactly that line in that directory", async (t) => {
  const line = "ls | wc -l";
  const commands = [
    { command: line, cwd: "one" },
    { command: line, cwd: "one" },
    { command: line, cwd: "two" },
    { command: `${line}; ls`, cwd: "one" },
  ];
  assert.deepEqual(await askedAbout(t, {}, commands, "allow:session"), [0, 2, 3]);
});

test("an answer tells in _meta how far it reaches, by which rule, and what was said", async (t) => {
  const cwd = folder(t);
  const replies = [
    "allow:once",
    "allow:session",
    { id: "allow:workspace", rule: "exec npm **" },
    { id: "deny:once", said: "use pnpm" },
    "option:1",
  ];
  const given: GateOptions = {
    rules: rules("allow exec date"),
    remembered: rememberedRules(join(cwd, "permissions.ndjson")),
    asker: { permission: () => replies.shift() },
  };
  const answers: unknown[] = [];
  const { go, session } = await talk(t, cwd, given, async (turn) => {
    for (const command of ["date", "ls", "pwd", "npm test", "yarn", "make"])
      await turn
        .tool({ title: "t", kind: "execute", rawInput: { command } }, (tool) =>
          tool.requestPermission({ options }),
        )
        .catch(() => undefined);
  });
  session.onEntry((entry) => {
    if (entry.kind === "answer" && "permission" in entry) answers.push(entry.permission._meta);
  });
  await go();
  assert.deepEqual(answers, [
    { "_parley.dev/rule": "allow exec date" },
    { "_parley.dev/scope": "once" },
    { "_parley.dev/scope": "session", "_parley.dev/rule": `allow exec (${realpathSync(cwd)}) pwd` },
    { "_parley.dev/scope": "workspace", "_parley.dev/rule": "allow exec npm **" },
    { "_parley.dev/said": "use pnpm", "_parley.dev/scope": "once" },
    // the agent keeps its own "always", and we keep it as long as the session
    { "_parley.dev/rule": `allow exec (${realpathSync(cwd)}) make` },
  ]);
});

/** Asks about changes of files, one after the other. Returns the questions, and what the agent was answered. */
async function askedToWrite(
  t: Parameters<typeof talk>[0],
  cwd: string,
  paths: readonly string[],
  given: GateOptions,
  reply: string,
) {
  const questions: PermissionQuestion[] = [];
  const permission = (question: PermissionQuestion) => {
    questions.push(question);
    return reply;
  };
  const { go, session } = await talk(t, cwd, { ...given, asker: { permission } }, async (turn) => {
    for (const path of paths) {
      const content = [{ type: "diff", path: join(cwd, path), newText: "x", changes: [] }] as const;
      await turn
        .tool({ title: `Edit ${path}`, kind: "edit", content: [...content] }, (tool) =>
          tool.requestPermission({ options }),
        )
        .catch(() => undefined);
    }
  });
  const answers: unknown[] = [];
  session.onEntry((entry) => {
    if (entry.kind !== "answer" || !("permission" in entry)) return;
    const { outcome, optionId, _meta } = entry.permission as Record<string, unknown>;
    answers.push([outcome === "selected" ? optionId : outcome, (_meta as never)?.["_parley.dev/rule"]]);
  });
  await go();
  return { questions, answers };
}

test("'all edits in this session' allows every further edit in the folder, of an agent that runs its own tools", async (t) => {
  const cwd = folder(t);
  const paths = ["a.ts", "src/b.ts", "c.ts", ".git/hooks/pre-commit", "../outside.ts", "kept/d.ts"];
  const { questions, answers } = await askedToWrite(
    t,
    cwd,
    paths,
    { rules: rules("ask write kept") },
    "allow:edits",
  );
  const edits = questions[0]?.choices.find(({ id }) => id === "allow:edits");
  assert.deepEqual([edits?.scope, edits?.rules], ["session", ["allow write"]]);
  // asked: the first; a protected path, one outside and one that a rule asks about stay questions and do not offer it
  assert.deepEqual(
    questions.map(({ summary, choices }) => [
      summary.replace(`${realpathSync(cwd)}/`, "").replace(/^write .*\//, "write "),
      choices.some(({ id }) => id === "allow:edits"),
    ]),
    [
      ["write a.ts", true],
      ["write pre-commit", false],
      ["write outside.ts", false],
      ["write d.ts", false],
    ],
  );
  assert.deepEqual(answers.slice(0, 3), [
    ["yes", "allow write"],
    ["yes", "allow write"],
    ["yes", "allow write"],
  ]);
});

test("an answer that is remembered says which rule it makes", async (t) => {
  const cwd = folder(t);
  const { questions } = await askedToWrite(t, cwd, ["a.ts"], {}, "deny:once");
  const path = join(realpathSync(cwd), "a.ts");
  assert.deepEqual(
    questions[0]?.choices.flatMap(({ id, rules }) => (rules === undefined ? [] : [[id, ...rules]])),
    [
      ["allow:session", `allow write ${path}`],
      ["allow:edits", "allow write"],
      ["deny:session", `deny write ${path}`],
    ],
  );
});

test("all edits are not offered for a deletion, for a command, or where the folder holds everything", async (t) => {
  const cwd = folder(t);
  const offered: boolean[] = [];
  const permission = ({ choices }: PermissionQuestion) => {
    offered.push(choices.some(({ id }) => id === "allow:edits"));
    return "deny:once";
  };
  const { go } = await talk(t, cwd, { asker: { permission }, extraRoots: ["/"] }, async (turn) => {
    const calls = [
      { title: "rm", kind: "delete", rawInput: { path: join(cwd, "a") } },
      { title: "ls", kind: "execute", rawInput: { command: "ls" } },
      { title: "Edit", kind: "edit", rawInput: { path: join(cwd, "a"), content: "x" } },
    ] as const;
    for (const call of calls)
      await turn.tool(call, (tool) => tool.requestPermission({ options })).catch(() => undefined);
  });
  await go();
  assert.deepEqual(offered, [false, false, false]);
});

test("the question of our own agent says why it asks in its own words, that of another in ours", async (t) => {
  const reasonOf = async (isOwn: boolean, line = "allow net example.com", name = "a") => {
    const reasons: string[] = [];
    const permission = ({ reason }: PermissionQuestion) => {
      reasons.push(reason);
      return "deny:once";
    };
    const cwd = folder(t);
    const session = { sessionId: "s", cwd, roots: [] };
    const { signal } = new AbortController();
    const rawInput = { path: join(cwd, name), content: "x" };
    const ask = {
      title: "Edit",
      description: "mode ask asks about every change",
      subject: { type: "tool_call", toolCall: { toolCallId: "c", title: "Edit", kind: "edit", rawInput } },
      options,
    } as const;
    const gate = permissionGate({ asker: { permission }, isOwn, rules: rules(line) });
    await gate.decide({ type: "permission", request: ask }, { session, signal });
    return reasons.map((reason) => reason.replace(`${realpathSync(cwd)}/`, ""));
  };
  assert.deepEqual(await reasonOf(true), ["mode ask asks about every change"]);
  assert.deepEqual(await reasonOf(false), ["no rule allows this change yet"]);
  // a rule goes before the words of any agent
  assert.deepEqual(await reasonOf(true, "ask write"), ["ask write (your policy)"]);
  // it knows more of a protected path, such as that a command has created it
  assert.deepEqual(await reasonOf(true, "allow write", ".vscode"), ["mode ask asks about every change"]);
  const general = ".vscode is protected, because other programs run or obey it";
  assert.deepEqual(await reasonOf(false, "allow write", ".vscode"), [general]);
});

test("a command that was allowed for a session is for the directory that it was allowed in", async (t) => {
  const commands = [
    { command: "ls", cwd: "one" },
    { command: "ls", cwd: "one" },
    { command: "ls", cwd: "two" },
  ];
  assert.deepEqual(await askedAbout(t, {}, commands, "allow:session"), [0, 2]);
});

test("V6: what was allowed for a session is allowed with the same variables only, and with their values", async (t) => {
  const command = "make clean";
  const commands = [
    { command },
    { command },
    { command, env: { RM: "evil" } },
    { command, env: { RM: "evil" } },
    { command, env: { RM: "other" } },
    { command: "RM=evil make clean" },
    { command, env: { CI: "1" } },
  ];
  assert.deepEqual(await askedAbout(t, {}, commands, "allow:session"), [0, 2, 4]);
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  assert.deepEqual(await askedAbout(t, { remembered }, commands, "allow:always"), [0, 2, 4]);
  // each asks in a folder of its own, and was answered for that one
  assert.deepEqual(
    remembered.list().map(({ exact }) => [exact?.argv, exact?.env]),
    [
      [["make", "clean"], undefined],
      [["make", "clean"], { RM: "evil" }],
      [["make", "clean"], { RM: "other" }],
    ],
  );
});

test("what is asked every time is asked every time, though the agent offers for ever", async (t) => {
  const given = { rules: rules("ask exec ls") };
  const commands = [{ command: "ls" }, { command: "ls" }];
  assert.deepEqual(await askedAbout(t, given, commands, "option:1"), [0, 1]);
  assert.deepEqual(await askedAbout(t, given, commands, "option:3"), [0, 1], "nor is a no kept");
  assert.deepEqual(await askedAbout(t, {}, commands, "option:1"), [0]);
  assert.deepEqual(await askedAbout(t, {}, commands, "option:0"), [0, 1], "once is once");
});

test("a no for ever is kept for the session, too", async (t) => {
  const commands = [{ command: "ls" }, { command: "ls" }, { command: "pwd" }];
  assert.deepEqual(await askedAbout(t, {}, commands, "option:3"), [0, 2]);
});

test("what was just allowed is done within ten minutes, or asked again", async (t) => {
  for (const [minutes, expected] of [
    [9, ["user", "approval"]],
    [10, ["user", "user"]],
  ] as const) {
    const cwd = folder(t, { a: "old\n" });
    let now = Date.UTC(2030, 0, 1);
    const permission = ({ choices }: PermissionQuestion) =>
      choices.find(({ effect }) => effect === "allow")?.id;
    const given: GateOptions = { asker: { permission }, now: () => now };
    const by: string[] = [];
    const { gate, go } = await talk(t, cwd, given, async (turn: Turn) => {
      await turn.tool({ title: "Edit a", kind: "edit" }, async (tool) => {
        await tool.diff({ path: join(cwd, "a"), oldText: "old\n", newText: "new\n" });
        await tool.requestPermission();
        now += minutes * 60_000;
        await turn.client.files?.writeText(join(cwd, "a"), "new\n");
      });
    });
    gate.onDecision((decision) => by.push(decision.by));
    await go();
    assert.deepEqual(by, expected, `${minutes} minutes`);
  }
});

test("a command that is forbidden is forbidden with any further words", () => {
  const gate = permissionGate({ rules: rules("deny exec git push origin", "allow *") });
  const effectOf = (...args: string[]) =>
    gate.check({ sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] }, [
      commandSubject("op", "git", args, "/nowhere/w"),
    ]).effect;
  for (const words of [
    ["push", "origin"],
    ["push", "origin", "x"],
  ])
    assert.equal(effectOf(...words), "deny");
  for (const words of [["push"], ["push", "other"], ["pull", "origin"]])
    assert.equal(effectOf(...words), "allow", words.join(" "));
});

test("where nothing can be kept, no answer is offered that would have to be", async (t) => {
  const offered: string[][] = [];
  const permission = ({ choices }: PermissionQuestion) => {
    offered.push([...new Set(choices.map(({ scope }) => scope))]);
    return undefined;
  };
  const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
  for (const given of [{}, { remembered }]) {
    const { go } = await talk(t, folder(t), { ...given, asker: { permission } }, async (turn) => {
      await turn
        .tool({ title: "t", kind: "execute", rawInput: { command: "ls" } }, (tool) =>
          tool.requestPermission({ options }),
        )
        .catch(() => undefined);
    });
    await go();
  }
  assert.deepEqual(offered, [
    ["once", "session"],
    ["once", "session", "workspace", "always"],
  ]);
});

test("an answer for a workspace counts by whatever name the directory is reached", async (t) => {
  const base = realpathSync(folder(t));
  const project = join(base, "project");
  mkdirSync(project);
  symlinkSync(project, join(base, "link"));
  const remembered = rememberedRules(join(base, "permissions.ndjson"));
  const permission = () => "allow:workspace";
  const write = async (cwd: string, asks: boolean) => {
    const gate = permissionGate({ remembered, ...(asks ? { asker: { permission } } : {}) });
    const { files } = gate.services({ sessionId: "s", cwd, roots: [cwd] });
    t.after(() => files.close());
    await files.writeText(join(cwd, "a"), "text");
  };
  await write(project, true);
  await write(join(base, "link"), false);
});

test("an agent cannot bury a person in questions: of one session sixteen are open, and further ones are refused", {
  timeout: 20_000,
}, async () => {
  const answered = Promise.withResolvers<string>();
  let open = 0;
  const permission = () => {
    open++;
    return answered.promise;
  };
  const gate = permissionGate({ asker: { permission } });
  const session = { sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] };
  const context = { session, signal: new AbortController().signal };
  const asks = Array.from({ length: 17 }, (_, at) => {
    const toolCall = { toolCallId: `${at}`, rawInput: { command: `ls ${at}` } };
    const request = { title: "t", subject: { type: "tool_call" as const, toolCall }, options };
    return gate.decide({ type: "permission", request }, context);
  });
  const reason = "16 questions of this session are open already";
  const _meta = { "_parley.dev/refusal": reason };
  assert.deepEqual(await asks[16], { outcome: "selected", optionId: "no", _meta });
  assert.equal(gate.refusals[0]?.reason, reason);
  answered.resolve("option:0");
  await Promise.all(asks);
  assert.deepEqual([open, gate.refusals.length], [16, 1]);
});

test("a question that was given up before it was asked is asked of nobody", { timeout: 20_000 }, async () => {
  let asked = 0;
  const permission = () => {
    asked++;
    return "allow:once";
  };
  const gate = permissionGate({ asker: { permission } });
  const session = { sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] };
  const { terminals } = gate.services(session);
  const signal = AbortSignal.abort();
  await assert.rejects(async () => terminals.create({ command: "ls", args: [], signal }));
  assert.equal(asked, 0);
});
