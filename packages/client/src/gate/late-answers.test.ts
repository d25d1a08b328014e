// A cancel withdraws the open questions: an answer that comes later allows nothing.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder } from "../../test/support/gate-probe.ts";
import { type PermissionQuestion, permissionGate } from "../policy.ts";

/** A gate whose person answers when the test says so. */
function slowPerson(cwd: string) {
  const asked = Promise.withResolvers<PermissionQuestion>();
  const answer = Promise.withResolvers<string>();
  const permission = (question: PermissionQuestion): Promise<string> => {
    asked.resolve(question);
    return answer.promise;
  };
  const gate = permissionGate({ asker: { permission } });
  const session = { sessionId: "s", cwd, roots: [cwd] };
  gate.prompted(session);
  return { gate, session, asked: asked.promise, answer: answer.resolve };
}

for (const again of [false, true])
  test(`TH3 a yes that comes after the cancel writes nothing, ${again ? "even in the next turn" : "and its question is withdrawn"}`, async (t) => {
    const cwd = folder(t);
    const { gate, session, asked, answer } = slowPerson(cwd);
    const { files } = gate.services(session);
    const path = join(cwd, "a.txt");
    const written = assert.rejects(files.writeText(path, "x"), /the user has cancelled/);
    const { signal } = await asked;
    gate.cancel(session);
    assert.ok(signal.aborted);
    if (again) gate.prompted(session);
    answer("allow:session");
    await written;
    assert.ok(!existsSync(path));
    assert.equal(gate.check(session, [{ origin: "op", operation: "write", path }]).effect, "ask");
    await files.close();
  });

test("TH3 a cancel while an allowed write is looked at once more writes nothing", async (t) => {
  const cwd = folder(t);
  let answered = false;
  const session = { sessionId: "s", cwd, roots: [cwd] };
  const gate = permissionGate({
    asker: {
      permission() {
        answered = true;
        return "allow:once";
      },
    },
    overlay: {
      // what is shown, and what it is compared with after the answer
      async read() {
        if (answered) gate.cancel(session);
        return undefined;
      },
    },
  });
  gate.prompted(session);
  const { files } = gate.services(session);
  const path = join(cwd, "a.txt");
  await assert.rejects(files.writeText(path, "x"), /the user has cancelled/);
  assert.ok(!existsSync(path));
  await files.close();
});

test("TH3 a yes that comes after the cancel allows no command and no claim", async (t) => {
  const cwd = folder(t);
  for (const type of ["execute", "permission"] as const) {
    const { gate, session, asked, answer } = slowPerson(cwd);
    const context = { session, signal: new AbortController().signal };
    const option = { optionId: "yes", name: "Yes", kind: "allow_once" } as const;
    const toolCall = { toolCallId: "t", kind: "execute", rawInput: { command: "make" } } as const;
    const request = { title: "make", subject: { type: "tool_call", toolCall }, options: [option] } as const;
    const decided = gate.decide(
      type === "execute"
        ? { type, command: "make", args: [], cwd, env: {} }
        : { type, request: { ...request, options: [option] } },
      context,
    );
    await asked;
    gate.cancel(session);
    answer("allow:once");
    const decision = await decided;
    if (type === "execute") assert.partialDeepStrictEqual(decision, { decision: "deny" });
    else assert.partialDeepStrictEqual(decision, { outcome: "cancelled" });
  }
});
