// The permission policy as a policy of any client: it decides, asks, remembers and forgets.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { PermissionOption, PermissionRequest, PolicyRequest } from "@parley/acp";
import type { PermissionOutcome } from "@parley/acp/model";
import { auditFiles, auditLog, verifyAudit, verifyAuditFolder } from "@parley/client/audit";
import { folder } from "../../test/support/gate-probe.ts";
import {
  type GateContext,
  type PermissionDecision,
  type PermissionPolicyOptions,
  type PermissionQuestion,
  parsePolicy,
  permissionGate,
  permissionPolicy,
  RuleError,
} from "../policy.ts";

/** A session of any client, whose person answers with the options of these kinds. */
function contextOf(cwd: string, answers: PermissionOption["kind"][] = []) {
  const session = { sessionId: "s", cwd, roots: [cwd] };
  const ask = async ({ options }: PermissionRequest): Promise<PermissionOutcome> => {
    const wanted = answers.shift() ?? assert.fail("it is not asked");
    const { optionId = "" } = options.find(({ kind }) => kind === wanted) ?? {};
    return { outcome: "selected", optionId };
  };
  return { session, signal: new AbortController().signal, ask };
}

const option = (kind: PermissionOption["kind"]): PermissionOption => ({ optionId: kind, name: kind, kind });

function editing(path: string, newText: string): PermissionRequest {
  const content = [{ type: "diff" as const, path, newText, changes: [] }];
  return {
    title: "Edit",
    subject: { type: "tool_call", toolCall: { toolCallId: "t", kind: "edit", content } },
    options: [option("allow_once"), option("allow_always"), option("reject_once")],
  };
}

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ["a relative stateFolder", { stateFolder: "state" }, /stateFolder must be absolute, got "state"/],
  ["an empty stateFolder", { stateFolder: "" }, /stateFolder must be absolute, got ""/],
  ["a relative root", { extraRoots: ["/work", "lib"] }, /extraRoots must be absolute, got "lib"/],
  ["environment beside env", { environment: {} }, /there is no option environment; did you mean env\?/],
  ["rules that are no text", { rules: 7 }, /rules must be text or a list of lines, got 7/],
  ["a rule that is no text", { rules: ["allow read", {}] }, /a list of lines, got an object/],
  ["a log without a place", { audit: true }, /audit needs a stateFolder/],
  ["somebody to ask who is no function", { ask: {} }, /ask must be a function, got an object/],
];

for (const [what, options, message] of wrong) {
  test(`${what} is refused`, () => {
    assert.throws(() => permissionPolicy(options as PermissionPolicyOptions), { name: "TypeError", message });
  });
}

test("rules that cannot be meant are refused, with their lines", () => {
  assert.throws(
    () => permissionPolicy({ rules: ["allow read", "forbid write"] }),
    (error) =>
      error instanceof RuleError &&
      /^rules:2: expected a line that starts with allow, ask or deny/.test(error.message),
  );
});

test("reads, writes and commands are decided by the rules, with a reason for a no", async (t) => {
  const cwd = folder(t, { "src/a.ts": "a", ".env": "KEY=1" });
  const { decide } = permissionPolicy({ rules: "allow read src\ndeny write src\nallow exec npm test" });
  const context = contextOf(cwd);
  assert.equal(await decide({ type: "read", path: join(cwd, "src/a.ts") }, context), "allow");
  assert.partialDeepStrictEqual(
    await decide({ type: "write", path: join(cwd, "src/a.ts"), content: "b" }, context),
    { decision: "deny" },
  );
  const command = { type: "execute", command: "npm", cwd, env: {} } as const;
  assert.equal(await decide({ ...command, args: ["test"] }, context), "allow");
  const { ask: _, ...unattended } = context;
  assert.partialDeepStrictEqual(await decide({ ...command, args: ["publish"] }, unattended), {
    decision: "deny",
    reason: `run npm publish (in ${cwd}) was not permitted: nobody is there to ask: this command would run without a sandbox, and no rule allows it yet`,
  });
  const outside = await decide({ type: "read", path: "/etc/passwd" }, context);
  assert.ok(typeof outside === "object" && "reason" in outside && outside.decision === "deny");
});

test("a tool of the client is decided by the rules for MCP, and an answer is remembered (M22)", async (t) => {
  const { decide } = permissionPolicy({ rules: "allow mcp sums/add\ndeny mcp files/*" });
  const context = contextOf(folder(t), ["allow_always"]);
  const call = (server: string, tool: string) => ({ type: "mcp", server, tool, arguments: {} }) as const;
  assert.equal(await decide(call("sums", "add"), context), "allow");
  assert.partialDeepStrictEqual(await decide(call("files", "wipe"), context), { decision: "deny" });
  for (const _ of [1, 2]) assert.equal(await decide(call("sums", "sub"), context), "allow");
});

test("nothing is decided for what belongs to no session", async () => {
  const { decide } = permissionPolicy({ rules: "allow *" });
  const context = { session: undefined, signal: new AbortController().signal };
  assert.partialDeepStrictEqual(await decide({ type: "read", path: "/a" }, context), { decision: "deny" });
});

test("a policy with somebody to ask asks, with what would change, and never leaves the question", async (t) => {
  const cwd = folder(t, { "a.txt": "old" });
  const asked: PermissionQuestion[] = [];
  const answers = ["deny:once", "allow:session"];
  const { decide } = permissionPolicy({
    ask(question) {
      asked.push(question);
      return answers.shift();
    },
  });
  const context = contextOf(cwd);
  const write: PolicyRequest = { type: "write", path: join(cwd, "a.txt"), content: "new" };
  assert.partialDeepStrictEqual(await decide(write, context), { decision: "deny" });
  assert.equal(await decide(write, context), "allow");
  assert.equal(await decide(write, context), "allow", "the answer is for the session");
  assert.deepEqual(
    asked.map(({ diff }) => diff),
    [1, 2].map(() => ({ path: join(cwd, "a.txt"), oldText: "old", newText: "new" })),
  );
  // nobody answers
  assert.partialDeepStrictEqual(await decide({ type: "read", path: join(cwd, ".env") }, context), {
    decision: "deny",
  });
});

test("without an asker the user of the client is asked, and the answer is remembered", async (t) => {
  const cwd = folder(t);
  const { decide } = permissionPolicy();
  const answers: PermissionOption["kind"][] = ["reject_once", "allow_once", "allow_always"];
  const context = contextOf(cwd, answers);
  const write: PolicyRequest = { type: "write", path: join(cwd, "a.txt"), content: "new" };
  assert.partialDeepStrictEqual(await decide(write, context), { decision: "deny" });
  for (const _ of [1, 2, 3]) assert.equal(await decide(write, context), "allow");
  assert.equal(answers.length, 0);
  const { ask: _, ...another } = contextOf(cwd);
  assert.partialDeepStrictEqual(await decide(write, another), { decision: "deny" });
  const command: PolicyRequest = { type: "execute", command: "make", args: ["all"], cwd, env: {} };
  answers.push("reject_always");
  for (const _ of [1, 2]) assert.partialDeepStrictEqual(await decide(command, context), { decision: "deny" });
});

test("an edit that the user has just allowed is not asked about again when it is made, but for a cancel", async (t) => {
  const cwd = folder(t);
  const { decide, cancel, prompted } = permissionPolicy();
  const answers: PermissionOption["kind"][] = [];
  const context = contextOf(cwd, answers);
  const path = join(cwd, "a.txt");
  const asked: PolicyRequest = { type: "permission", request: editing(path, "new") };
  const write: PolicyRequest = { type: "write", path, content: "new" };
  const approve = async () => {
    answers.push("allow_once");
    assert.partialDeepStrictEqual(await decide(asked, context), {
      outcome: "selected",
      optionId: "allow_once",
    });
  };
  const isAsked = async (request: PolicyRequest) => {
    answers.push("reject_once");
    assert.partialDeepStrictEqual(await decide(request, context), { decision: "deny" });
    assert.deepEqual(answers, []);
  };
  await approve();
  await isAsked({ ...write, content: "other" });
  assert.equal(await decide(write, context), "allow");
  await isAsked(write);
  await approve();
  cancel(context.session);
  prompted(context.session);
  await isAsked(write);
});

test("the rules are evaluated once for each decision, and a second time only if somebody was asked meanwhile", async (t) => {
  const cwd = folder(t);
  let evaluations = 0;
  const gate = permissionGate({
    rules: parsePolicy("allow write a\ndeny write b", "user", "test").rules,
    // asked for each time that the rules are evaluated
    workspaceRules() {
      evaluations++;
      return [];
    },
  });
  const counted = async (request: PolicyRequest, context: GateContext) => {
    evaluations = 0;
    await gate.decide(request, context);
    return evaluations;
  };
  const write = (name: string): PolicyRequest => ({ type: "write", path: join(cwd, name), content: "x" });
  const question: PolicyRequest = { type: "permission", request: editing(join(cwd, "c"), "x") };
  const { ask: _, ...unattended } = contextOf(cwd);
  for (const request of [write("a"), write("b"), write("c"), question])
    assert.equal(await counted(request, unattended), 1);
  assert.equal(await counted(write("d"), contextOf(cwd, ["allow_once"])), 2);
  assert.equal(await counted(question, contextOf(cwd, ["reject_once"])), 2);
  const veto = async (path: string) => {
    evaluations = 0;
    const effects = [{ operation: "write", path }];
    await gate.veto({ effects, search: true }, unattended);
    return evaluations;
  };
  // and once for what the rules restrict
  assert.equal(await veto("a"), 2);
});

test("questions of the agent are decided by all that is known of the call", async (t) => {
  const cwd = folder(t);
  const { decide } = permissionPolicy({ rules: "deny write secret\nallow exec ls" });
  const context = contextOf(cwd);
  const request = editing(join(cwd, "secret/key"), "x");
  assert.partialDeepStrictEqual(await decide({ type: "permission", request }, context), {
    optionId: "reject_once",
  });
  const named: PermissionRequest = {
    ...request,
    subject: { type: "tool_call", toolCall: { toolCallId: "run" } },
  };
  const toolCall = { toolCallId: "run", kind: "execute" as const, rawInput: { command: "ls" } };
  const { ask: _, ...unattended } = context;
  assert.partialDeepStrictEqual(await decide({ type: "permission", request: named }, unattended), {
    optionId: "reject_once",
  });
  assert.partialDeepStrictEqual(await decide({ type: "permission", request: named, toolCall }, context), {
    optionId: "allow_once",
  });
  // nothing says yes just this once
  const always = { ...named, options: [option("allow_always")] };
  assert.partialDeepStrictEqual(await decide({ type: "permission", request: always, toolCall }, context), {
    outcome: "cancelled",
  });
});

test("answers and the audit log of a stateFolder outlive the policy", async (t) => {
  const [cwd, stateFolder] = [folder(t), join(folder(t), "state")];
  const decisions: PermissionDecision[] = [];
  const asking = permissionPolicy({ stateFolder, ask: () => "allow:workspace" });
  asking.onDecision((decision) => decisions.push(decision));
  const write: PolicyRequest = { type: "write", path: join(cwd, "a.txt"), content: "new" };
  assert.equal(await asking.decide(write, contextOf(cwd)), "allow");
  await asking[Symbol.asyncDispose]();
  assert.partialDeepStrictEqual(decisions, [{ effect: "allow", by: "user", scope: "workspace" }]);
  const later = permissionPolicy({ stateFolder });
  assert.equal(await later.decide(write, contextOf(cwd)), "allow");
  // what the rules are in cannot be changed by an agent
  const own: PolicyRequest = { type: "write", path: join(stateFolder, "permissions.ndjson"), content: "" };
  assert.partialDeepStrictEqual(await later.decide(own, contextOf(join(stateFolder, ".."))), {
    decision: "deny",
  });
  await later.close();
  const { reports } = verifyAuditFolder(join(stateFolder, "audit"));
  assert.deepEqual(
    reports.map(({ isWhole, isClosed }) => [isWhole, isClosed]),
    [
      [true, true],
      [true, true],
    ],
  );
  assert.ok(reports.some(({ entries }) => entries.some((entry) => entry.target?.endsWith("a.txt"))));
});

test("the audit log is left out where it is not wanted, and takes no secrets that are known", async (t) => {
  const [cwd, state] = [folder(t), folder(t)];
  const decided = async (audit: NonNullable<PermissionPolicyOptions["audit"]>, stateFolder: string) => {
    const policy = permissionPolicy({ rules: "allow read", stateFolder, audit });
    await policy.decide({ type: "read", path: join(cwd, "canary-word.txt") }, contextOf(cwd));
    await policy.close();
    return join(stateFolder, "audit");
  };
  assert.equal(existsSync(await decided(false, join(state, "one"))), false);
  const [log = ""] = auditFiles(await decided({ secrets: ["canary-word"] }, join(state, "two")));
  assert.doesNotMatch(readFileSync(log, "utf8"), /canary/);
});

test("an audit log wants an absolute folder, and is closed when it is disposed of", async (t) => {
  const audit = auditLog(folder(t));
  audit.write({ kind: "refused" });
  await audit[Symbol.asyncDispose]();
  assert.equal(verifyAudit(audit.path).isClosed, true);
  for (const path of ["", "logs"])
    assert.throws(() => auditLog(path), { name: "TypeError", message: /must be an absolute path, got "/ });
});
