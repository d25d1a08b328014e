// Agents that announce what they would do without asking.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { auditLog } from "@parley/client/audit";
import { folder, rules } from "../../test/support/gate-probe.ts";
import { type Decision, type GateOptions, type PermissionQuestion, permissionGate } from "../policy.ts";

const never = new AbortController().signal;

function setUp(t: Parameters<typeof folder>[0], options: GateOptions = {}) {
  const cwd = folder(t, { "a.txt": "a", "b.txt": "b", ".env": "KEY=1" });
  const gate = permissionGate(options);
  const session = { sessionId: "s", cwd, roots: [cwd] };
  const decisions: Decision[] = [];
  gate.onDecision((decision) => decisions.push(decision));
  const veto = (effects: readonly object[], more: object = {}) =>
    gate.veto({ sessionId: "s", effects, ...more }, { session, signal: never });
  return { cwd, gate, session, decisions, veto };
}

const read = (path: string) => ({ operation: "read", path });
const write = (path: string) => ({ operation: "write", path });

test("what no rule is about is allowed without anybody being asked, and reported as the agent's own", async (t) => {
  let asked = 0;
  const asker = {
    permission() {
      asked++;
      return undefined;
    },
  };
  const { veto, decisions } = setUp(t, { asker, rules: rules("deny read a.txt") });
  for (const effect of [
    read("b.txt"),
    write("b.txt"),
    { operation: "exec", command: "npm test" },
    { operation: "net", host: "example.org" },
    { operation: "mcp", server: "s", tool: "t" },
  ])
    assert.deepEqual(await veto([effect]), { refused: [], restricts: ["read"] });
  assert.equal(asked, 0);
  assert.ok(decisions.every(({ effect, by }) => effect === "allow" && by === "agent"));
});

test("a rule that forbids refuses, by whatever name the file goes", async (t) => {
  const { cwd, veto, gate } = setUp(t, { rules: rules("deny read a.txt", "deny exec rm", "deny mcp s/*") });
  for (const effect of [
    read("a.txt"),
    read(join(cwd, "x/../a.txt")),
    { operation: "exec", command: "sh -c 'rm x'" },
    { operation: "mcp", server: "s", tool: "t" },
  ]) {
    const { refused } = await veto([read("b.txt"), effect]);
    assert.deepEqual(
      refused.map((each) => each.effect),
      [0, 1],
      JSON.stringify(effect),
    );
    assert.match(refused[0]?.reason ?? "", /^deny (?:read|exec|mcp) /);
  }
  assert.equal(gate.refused, 4);
});

test("what is asked every time is asked, once and for once; where nobody is it is refused", async (t) => {
  const questions: PermissionQuestion[] = [];
  const asker = {
    permission(question: PermissionQuestion) {
      questions.push(question);
      return question.choices.find(({ effect }) => effect === "allow")?.id;
    },
  };
  const policy = rules("ask write a.txt");
  const { veto } = setUp(t, { asker, rules: policy });
  assert.deepEqual((await veto([write("a.txt")])).refused, []);
  assert.deepEqual((await veto([write("a.txt")])).refused, []);
  assert.deepEqual((await veto([read(".env")])).refused, []);
  assert.equal(questions.length, 3);
  assert.deepEqual(
    [...new Set(questions.flatMap(({ choices }) => choices.map(({ scope }) => scope)))],
    ["once"],
  );
  const { refused } = await setUp(t, { rules: policy }).veto([write("a.txt")]);
  assert.match(refused[0]?.reason ?? "", /nobody is there to ask/);
});

test("after a cancel nobody is asked about what the agent would still read by itself, and nothing else is done", async (t) => {
  const asker = { permission: () => assert.fail("nobody wants to be asked any more") };
  const { veto, gate, session, decisions } = setUp(t, { asker });
  gate.cancel(session);
  assert.deepEqual((await veto([read("b.txt")])).refused, []);
  assert.equal((await veto([read("b.txt"), write("b.txt")])).refused.length, 2);
  assert.deepEqual(
    decisions.map(({ effect }) => effect),
    ["allow", "cancelled"],
  );
});

test("an agent gains nothing by it: what it would have us do is asked as before, and an approval is not used up", async (t) => {
  const { cwd, gate, session, veto } = setUp(t);
  assert.deepEqual((await veto([write("b.txt")])).refused, []);
  const { files } = gate.services(session);
  await assert.rejects(files.writeText(join(cwd, "b.txt"), "new"), { code: -32060 });
  assert.deepEqual((await veto([read(".ssh/id_rsa")])).refused.length, 1);
  await files.close();
});

test("each file of a search is answered for itself, in silence", async (t) => {
  const { veto, decisions } = setUp(t, { rules: rules("deny read a.txt", "ask read c.txt") });
  const { refused, restricts } = await veto([read("a.txt"), read("b.txt"), read("c.txt")], { search: true });
  assert.deepEqual(
    refused.map(({ effect }) => effect),
    [0, 2],
  );
  assert.deepEqual(restricts, ["read"]);
  assert.deepEqual(decisions, []);
});

test("what is restricted follows the rules that are in force", async (t) => {
  const restricted = async (...texts: string[]) =>
    (await setUp(t, { rules: rules(...texts) }).veto([read("b.txt")])).restricts;
  assert.deepEqual(await restricted(), []);
  assert.deepEqual(await restricted("allow read", "allow write"), []);
  assert.deepEqual(await restricted("ask exec", "deny write a.txt"), ["write", "exec"]);
  assert.equal((await restricted("deny *")).length, 5);
});

test("what cannot be understood is refused with -32602", async (t) => {
  const { veto, gate, session } = setUp(t);
  assert.deepEqual((await veto([])).refused, [], "only the rest of the answer is wanted");
  for (const effects of [
    [null],
    [{}],
    [{ operation: "fly" }],
    [{ operation: "read" }],
    [{ operation: "read", path: 7 }],
    [{ operation: "mcp", server: "s" }],
    Array.from({ length: 1_001 }, () => read("b.txt")),
  ])
    await assert.rejects(veto(effects as object[]), { code: -32602 });
  await assert.rejects(gate.veto(null, { session, signal: never }), { code: -32602 });
});

test("both a yes and a no are in the log, with who said so", async (t) => {
  const audit = auditLog(join(folder(t), "audit"));
  const { veto } = setUp(t, { audit, rules: rules("deny read a.txt") });
  await veto([read("b.txt")]);
  await veto([read("a.txt")]);
  audit.close();
  const lines = readFileSync(audit.path, "utf8");
  assert.match(lines, /"kind":"decision".*b\.txt.*"effect":"allow","by":"agent"/);
  assert.match(lines, /"kind":"decision".*a\.txt.*"effect":"deny","by":"rule"/);
});
