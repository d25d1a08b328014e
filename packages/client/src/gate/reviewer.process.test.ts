// A reviewer: a real command that answers questions.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { folder, rules, talk } from "../../test/support/gate-probe.ts";
import type { Decision, GateOptions, PermissionQuestion } from "../policy.ts";
import { reviewer } from "./reviewer.ts";

const node = JSON.stringify(process.execPath);
const says = (answer: string): string =>
  `${node} -e ${quoted(`process.stdout.write(${JSON.stringify(answer)})`)}`;

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const question: PermissionQuestion = {
  sessionId: "s",
  summary: "run npm test",
  subjects: [{ origin: "op", operation: "exec", argv: ["npm", "test"], cwd: "/project" }],
  reason: "no rule applies to it",
  isAlwaysAsked: false,
  choices: [
    { id: "allow:once", name: "Allow once", effect: "allow", scope: "once" },
    { id: "allow:session", name: "Allow for this session", effect: "allow", scope: "session" },
    { id: "deny:once", name: "Reject once", effect: "deny", scope: "once" },
  ],
  signal: new AbortController().signal,
};

async function asked(command: string, timeoutMs?: number) {
  const notes: string[] = [];
  const note = (text: string) => notes.push(text);
  const ask = reviewer({ command, agent: "claude", note, timeoutMs });
  return { reply: await ask(question), notes };
}

test("a reviewer allows once, denies with a reason, or leaves it open", async () => {
  const yes = await asked(says('{"decision":"allow"}'));
  assert.deepEqual(yes, { reply: { id: "allow:once", by: "reviewer" }, notes: [] });
  const no = await asked(says('{"decision":"deny","reason":"too wide"}'));
  assert.deepEqual(no.reply, { id: "deny:once", by: "reviewer", said: "too wide" });
  assert.deepEqual(await asked(says('{"decision":"ask"}')), { reply: undefined, notes: [] });
});

test("a reviewer gets the question as one line of JSON", async () => {
  const code = `let t="";process.stdin.on("data",d=>t+=d).on("end",()=>{const q=JSON.parse(t);
    const ok=q.v===1&&q.agent==="claude"&&q.subjects[0].argv[1]==="test"&&q.reason==="no rule applies to it";
    process.stdout.write(JSON.stringify({decision:ok?"allow":"deny"}))})`;
  const { reply } = await asked(`${node} -e ${quoted(code)}`);
  assert.deepEqual(reply, { id: "allow:once", by: "reviewer" });
});

test("a reviewer that fails, talks nonsense or takes too long decides nothing, and it is said why", async () => {
  for (const [command, why] of [
    ["exit 3", /did not decide: it ended with exit code 3/],
    [says("sure, go ahead"), /expected \{"decision":"allow"\}, "deny" or "ask", got "sure, go ahead"/],
    [says('{"decision":"yes"}'), /got \{"decision":"yes"\}/],
  ] as const) {
    const { reply, notes } = await asked(command);
    assert.equal(reply, undefined);
    assert.match(notes.join(), why);
  }
  const slow = await asked("sleep 1000", 50);
  assert.deepEqual(slow.notes, ["the reviewer did not decide: no answer within 50 ms"]);
});

test("a reviewer is asked before the person, never about what is asked every time, and it is told that it decided", async (t) => {
  const decisions: Decision[] = [];
  const asks: string[] = [];
  const { gate, go } = await talk(
    t,
    folder(t, { "a.txt": "", ".env": "" }),
    {
      rules: rules("deny write no.txt"),
      reviewer: reviewer({ command: says('{"decision":"allow"}') }),
      asker: {
        permission({ summary }) {
          asks.push(summary.replace(/\/.*\//, ""));
          return "deny:once";
        },
      },
    },
    async ({ client, session }) => {
      for (const name of ["new.txt", "no.txt", ".env"])
        await client.files?.writeText(join(session.cwd, name), "x").catch(() => undefined);
    },
  );
  gate.onDecision((decision) => decisions.push(decision));
  await go();
  assert.deepEqual(
    decisions.map(({ effect, by }) => `${effect} by ${by}`),
    ["allow by reviewer", "deny by rule", "deny by user"],
  );
  assert.deepEqual(asks, ["write .env"]);
});

test("the reason of a reviewer is told, with the rule that goes before the reviewer", async (t) => {
  const given = { reviewer: reviewer({ command: says('{"decision":"deny","reason":"not today"}') }) };
  const errors: unknown[] = [];
  const write = async (more: GateOptions) => {
    const { gate, go } = await talk(t, folder(t, {}), { ...given, ...more }, async ({ client, session }) => {
      const file = join(session.cwd, "new.txt");
      await client.files?.writeText(file, "x").catch((error: unknown) => errors.push(error));
    });
    await go();
    return gate.refusals;
  };
  const [refused] = await write({});
  assert.deepEqual([refused?.by, refused?.reason], ["reviewer", "the reviewer answered: not today"]);
  assert.match(String(errors[0]), /the reviewer said: not today/);
  assert.match(String(refused?.allowedBy), /^write .*new\.txt$/);
  assert.deepEqual(await write({ rules: rules("allow write new.txt") }), []);
});

test("where a reviewer leaves it open and nobody is there, it is refused with the rule that would allow it", async (t) => {
  const given = { reviewer: reviewer({ command: says('{"decision":"ask"}') }) };
  const { gate, go } = await talk(t, folder(t, {}), given, async ({ client, session }) => {
    await client.files?.writeText(join(session.cwd, "new.txt"), "x").catch(() => undefined);
  });
  await go();
  assert.equal(gate.refusals[0]?.by, "nobody");
  assert.match(String(gate.refusals[0]?.allowedBy), /^write .*new\.txt$/);
});
