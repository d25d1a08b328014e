// The permission policy as a policy of any client: it decides, asks, remembers and forgets.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type {
  ClientSession,
  PermissionOption,
  PermissionRequest,
  PolicyRequest,
  RequestContext,
} from "@parley/acp";
import { auditFiles, auditLog, verifyAudit, verifyAuditFolder } from "@parley/client/audit";
import { folder } from "../../test/support/gate-probe.ts";
import {
  type PermissionDecision,
  type PermissionPolicyOptions,
  type PermissionQuestion,
  permissionPolicy,
  RuleError,
} from "../policy.ts";

/** A session of any client; the policy uses no more of it. */
function contextOf(cwd: string): RequestContext & { readonly session: ClientSession } {
  const session = { sessionId: "s", cwd, roots: [cwd] } as unknown as ClientSession;
  return { session, signal: new AbortController().signal };
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
  assert.equal(await decide({ ...command, args: ["publish"] }, context), "ask");
  const outside = await decide({ type: "read", path: "/etc/passwd" }, context);
  assert.ok(typeof outside === "object" && outside.decision === "deny" && outside.reason !== undefined);
});

test("a tool of the client is decided by the rules for MCP, and an answer is remembered (M22)", async (t) => {
  const { decide, remember } = permissionPolicy({ rules: "allow mcp sums/add\ndeny mcp files/*" });
  const context = contextOf(folder(t));
  const call = (server: string, tool: string) => ({ type: "mcp", server, tool, arguments: {} }) as const;
  assert.equal(await decide(call("sums", "add"), context), "allow");
  assert.partialDeepStrictEqual(await decide(call("files", "wipe"), context), { decision: "deny" });
  assert.equal(await decide(call("sums", "sub"), context), "ask");
  await remember(call("sums", "sub"), option("allow_always"), context);
  assert.equal(await decide(call("sums", "sub"), context), "allow");
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

test("without somebody to ask the question is left to the client, and the answer is remembered", async (t) => {
  const cwd = folder(t);
  const { decide, remember } = permissionPolicy();
  const context = contextOf(cwd);
  const write: PolicyRequest = { type: "write", path: join(cwd, "a.txt"), content: "new" };
  assert.equal(await decide(write, context), "ask");
  await remember(write, option("allow_once"), context);
  assert.equal(await decide(write, context), "ask");
  await remember(write, undefined, context);
  assert.equal(await decide(write, context), "ask");
  await remember(write, option("allow_always"), context);
  assert.equal(await decide(write, context), "allow");
  assert.equal(await decide(write, contextOf(cwd)), "ask", "another session");
  const command: PolicyRequest = { type: "execute", command: "make", args: ["all"], cwd, env: {} };
  await remember(command, option("reject_always"), context);
  assert.partialDeepStrictEqual(await decide(command, context), { decision: "deny" });
});

test("an edit that the user has just allowed is not asked about again when it is made, but for a cancel", async (t) => {
  const cwd = folder(t);
  const { decide, remember, cancel } = permissionPolicy();
  const context = contextOf(cwd);
  const path = join(cwd, "a.txt");
  const asked: PolicyRequest = { type: "permission", request: editing(path, "new") };
  const write: PolicyRequest = { type: "write", path, content: "new" };
  const approve = async () => {
    assert.equal(await decide(asked, context), "ask");
    await remember(asked, option("allow_once"), context);
  };
  await approve();
  assert.equal(await decide({ ...write, content: "other" }, context), "ask", "it is another edit");
  assert.equal(await decide(write, context), "allow");
  assert.equal(await decide(write, context), "ask", "it was allowed once");
  await approve();
  cancel(context.session);
  assert.equal(await decide(write, context), "ask");
});

test("questions of the agent are decided by all that is known of the call", async (t) => {
  const cwd = folder(t);
  const { decide } = permissionPolicy({ rules: "deny write secret\nallow exec ls" });
  const context = contextOf(cwd);
  const request = editing(join(cwd, "secret/key"), "x");
  assert.partialDeepStrictEqual(await decide({ type: "permission", request }, context), { decision: "deny" });
  const named: PermissionRequest = {
    ...request,
    subject: { type: "tool_call", toolCall: { toolCallId: "run" } },
  };
  const toolCall = { toolCallId: "run", kind: "execute" as const, rawInput: { command: "ls" } };
  assert.equal(await decide({ type: "permission", request: named }, context), "ask");
  assert.partialDeepStrictEqual(await decide({ type: "permission", request: named, toolCall }, context), {
    decision: "allow",
  });
  // nothing says yes just this once
  const always = { ...named, options: [option("allow_always")] };
  assert.partialDeepStrictEqual(await decide({ type: "permission", request: always, toolCall }, context), {
    decision: "deny",
    reason: "the agent offers no way to allow just this",
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
