// What an agent does without asking is noticed, whatever else it asked about in the turn.

import assert from "node:assert/strict";
import { test } from "node:test";
import { folder } from "../../test/support/gate-probe.ts";
import { parsePolicy, permissionGate } from "../policy.ts";

const { rules } = parsePolicy("ask exec\nask net\nask mcp", "user", "rules");

/** Asks about one call, does another, and returns what was noticed. */
async function noticed(cwd: string, asked: object, done: object): Promise<string[]> {
  const found: string[] = [];
  const gate = permissionGate({ rules, asker: { permission: () => "allow:once" } });
  gate.onDecision(({ effect, summary }) => {
    if (effect === "violation") found.push(summary);
  });
  const session = { sessionId: "s", cwd, roots: [cwd] };
  gate.prompted(session);
  const toolCall = { toolCallId: "asked", title: "t", ...asked };
  const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" } as const];
  const request = { title: "t", subject: { type: "tool_call", toolCall }, options } as const;
  const { signal } = new AbortController();
  await gate.decide({ type: "permission", request: { ...request, options } }, { session, signal });
  const update = { sessionUpdate: "tool_call_update", toolCallId: "done", title: "t", ...done } as const;
  gate.observe(session, { ...update, status: "completed" });
  return found;
}

const run = (command: string) => ({ kind: "execute", rawInput: { command } });
const fetching = (url: string) => ({ kind: "fetch", rawInput: { url } });

test("a command that nobody asked about is noticed after one that was asked about", async (t) => {
  const cwd = folder(t);
  const [found = "", ...more] = await noticed(cwd, run("ls"), run("git push"));
  assert.match(found, /git push/);
  assert.deepEqual(more, []);
  assert.equal((await noticed(cwd, run("ls"), run("ls && git push"))).length, 1);
});

test("so is an address", async (t) => {
  const cwd = folder(t);
  const [found = ""] = await noticed(cwd, fetching("https://a.example/x"), fetching("https://b.example/"));
  assert.match(found, /b\.example/);
  assert.deepEqual(await noticed(cwd, fetching("https://a.example/x"), fetching("https://a.example/y")), []);
});

test("the same command is not, however it is written, nor a part of the line that was asked about", async (t) => {
  const cwd = folder(t);
  for (const done of ["git push", "git  'push'", 'sh -c "git push"', "bash -lc 'git push'"])
    assert.deepEqual(await noticed(cwd, run("git push"), run(done)), [], done);
  assert.deepEqual(await noticed(cwd, run("npm test && git push"), run("git push")), []);
});
