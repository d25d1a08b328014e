// A reviewer: a real command that answers questions.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionQuestion, PermissionReply } from "../policy.ts";
import { reviewed } from "./reviewer.ts";

const node = JSON.stringify(process.execPath);
const says = (answer: string): string =>
  `${node} -e ${quoted(`process.stdout.write(${JSON.stringify(answer)})`)}`;

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function asked(command: string, given: Partial<PermissionQuestion> = {}, timeoutMs?: number) {
  const notes: string[] = [];
  let persons = 0;
  const question: PermissionQuestion = {
    sessionId: "s",
    summary: "run npm test",
    subjects: [{ origin: "op", operation: "exec", argv: ["npm", "test"], cwd: "/project" }],
    reason: "no rule is about it",
    always: false,
    choices: [
      { id: "allow:once", name: "Allow once", effect: "allow", scope: "once" },
      { id: "allow:session", name: "Allow for this session", effect: "allow", scope: "session" },
      { id: "deny:once", name: "Reject once", effect: "deny", scope: "once" },
    ],
    signal: new AbortController().signal,
    ...given,
  };
  const person = {
    permission: (): PermissionReply => {
      persons++;
      return "deny:once";
    },
  };
  const asker = reviewed(person, {
    command,
    agent: "claude",
    note: (text) => notes.push(text),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  return { reply: await asker.permission?.(question), persons, notes };
}

test("a reviewer allows once, denies with a reason, or leaves it to the person", async () => {
  const yes = await asked(says('{"decision":"allow"}'));
  assert.deepEqual(yes, { reply: { id: "allow:once", by: "reviewer" }, persons: 0, notes: [] });
  const no = await asked(says('{"decision":"deny","reason":"too wide"}'));
  assert.deepEqual(no.reply, { id: "deny:once", by: "reviewer", said: "too wide" });
  assert.deepEqual(await asked(says('{"decision":"ask"}')), { reply: "deny:once", persons: 1, notes: [] });
});

test("a reviewer gets the question as one line of JSON", async () => {
  const code = `let t="";process.stdin.on("data",d=>t+=d).on("end",()=>{const q=JSON.parse(t);
    const ok=q.v===1&&q.agent==="claude"&&q.subjects[0].argv[1]==="test"&&q.reason==="no rule is about it";
    process.stdout.write(JSON.stringify({decision:ok?"allow":"deny"}))})`;
  const { reply } = await asked(`${node} -e ${quoted(code)}`);
  assert.deepEqual(reply, { id: "allow:once", by: "reviewer" });
});

test("a reviewer that fails, talks nonsense or takes too long decides nothing: the person is asked and told why", async () => {
  for (const [command, why] of [
    ["exit 3", /did not decide: it ended with exit code 3/],
    [says("sure, go ahead"), /expected \{"decision":"allow"\}, "deny" or "ask", got "sure, go ahead"/],
    [says('{"decision":"yes"}'), /got \{"decision":"yes"\}/],
  ] as const) {
    const { reply, persons, notes } = await asked(command);
    assert.deepEqual({ reply, persons }, { reply: "deny:once", persons: 1 });
    assert.match(notes.join(), why);
  }
  const slow = await asked("sleep 1000", {}, 50);
  assert.deepEqual([slow.persons, slow.notes], [1, ["the reviewer did not decide: no answer within 50 ms"]]);
});

test("what is asked every time is never left to a reviewer", async () => {
  const { reply, persons } = await asked(says('{"decision":"allow"}'), { always: true });
  assert.deepEqual({ reply, persons }, { reply: "deny:once", persons: 1 });
});
