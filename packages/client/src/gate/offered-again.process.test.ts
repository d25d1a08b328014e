// A command that failed in the sandbox is offered again, where the system may have held something back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { auditLog, verifyAudit } from "@parley/client/audit";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { workplace } from "../../../sandbox/test/support/workplace.ts";
import {
  type GateOptions,
  type PermissionQuestion,
  type PermissionReply,
  permissionGate,
} from "../policy.ts";

type Answer = (question: PermissionQuestion) => Promise<PermissionReply> | PermissionReply;

function place(t: TestContext, answer?: Answer, audit?: GateOptions["audit"]) {
  const { work, outside } = workplace(t);
  const asked: PermissionQuestion[] = [];
  const permission: Answer = (question) => {
    asked.push(question);
    return answer?.(question);
  };
  const gate = permissionGate({
    sandbox: { profile: "workspace" },
    audit,
    ...(answer === undefined ? {} : { asker: { permission } }),
  });
  const { terminals } = gate.services({ sessionId: "s", cwd: work, roots: [work] });
  t.after(() => terminals.close());
  // twice: what it did inside the workspace is done again
  const command = `echo run >>count; echo x >${join(outside, "new")}`;
  const start = () => terminals.create({ command });
  const runs = () => readFileSync(join(work, "count"), "utf8").split("\n").length - 1;
  return { asked, gate, terminals, start, runs };
}

test("with a yes it runs outside, in the same terminal, and its second end counts", inSandbox, async (t) => {
  const { asked, start, runs } = place(t, () => "allow:once");
  const terminal = await start();
  assert.deepEqual(await terminal.waitForExit(), { exitCode: 0 });
  const { output, exitStatus } = await terminal.output();
  assert.match(output, /read-only file system\n\n\[The command failed in the sandbox\..*second run\.\]\n$/i);
  assert.deepEqual(exitStatus, { exitCode: 0 });
  assert.equal(runs(), 2);
  const [{ reason = "", choices = [], subjects = [] } = {}] = asked;
  assert.match(
    reason,
    /^in the sandbox it ended with exit code \d+ and printed ".*read-only file system"; /i,
  );
  assert.match(
    reason,
    /this command leaves the sandbox and runs with all your rights; what it has already done may be done twice$/,
  );
  assert.deepEqual(
    choices.map(({ id }) => id),
    ["allow:once", "deny:once"],
  );
  assert.equal(subjects[0]?.leaves, true);
});

test("the audit log says which run left the sandbox, and how each ended", inSandbox, async (t) => {
  const audit = auditLog(join(workplace(t).base, "audit"));
  const { start, terminals } = place(t, () => "allow:once", audit);
  await (await start()).waitForExit();
  await terminals.close();
  audit.close();
  const { entries } = verifyAudit(audit.path);
  const intents = entries.filter(({ kind }) => kind === "intent");
  const runs = intents.map(({ sandbox, seq }) => [
    sandbox,
    ...entries.filter(({ of }) => of === seq).map(({ result }) => result),
  ]);
  const [[inside, ...first] = [], second] = runs;
  assert.deepEqual([inside, first[0], second], ["workspace", "done", ["left", "done", "exit code 0"]]);
  assert.match(first[1] ?? "", /^exit code [12]$/);
});

test("with a no its first end counts, and the same command is not offered again", inSandbox, async (t) => {
  const { asked, start, runs, gate } = place(t, () => "deny:once");
  for (const _ of [1, 2]) {
    const terminal = await start();
    assert.notEqual((await terminal.waitForExit()).exitCode, 0);
    assert.doesNotMatch((await terminal.output()).output, /second run/);
  }
  assert.deepEqual([asked.length, runs(), gate.refused], [1, 2, 0]);
});

test(
  "a command that fails by itself is not asked about, and nobody is asked where nobody is",
  inSandbox,
  async (t) => {
    const { asked, terminals } = place(t, () => "allow:once");
    const terminal = await terminals.create({ command: "echo 3 tests failed; exit 7" });
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 7 });
    const alone = place(t);
    assert.notEqual((await (await alone.start()).waitForExit()).exitCode, 0);
    assert.deepEqual([asked.length, alone.gate.refused, alone.runs()], [0, 0, 1]);
  },
);

test(
  "its end is not told while the question is open, and kill, release and the end of the session withdraw it",
  inSandbox,
  async (t) => {
    for (const end of ["kill", "release", "close"] as const) {
      const opened = Promise.withResolvers<AbortSignal>();
      const { terminals, start, runs } = place(t, ({ signal }) => {
        opened.resolve(signal);
        return new Promise(() => undefined);
      });
      const terminal = await start();
      const exit = terminal.waitForExit();
      const signal = await opened.promise;
      assert.equal((await terminal.output()).exitStatus, undefined);
      await (end === "close" ? terminals.close() : terminal[end]());
      assert.ok(signal.aborted, end);
      assert.notEqual((await exit).exitCode, 0);
      assert.equal(runs(), 1);
    }
  },
);
