// `parley run` at a terminal, by the real command behind a pseudo-terminal that `script` of util-linux makes.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const skip = process.platform !== "linux" || !existsSync("/usr/bin/script");
const text = "one two three four five six seven eight nine ten eleven";

test("lines end between words at a terminal, and nowhere in a pipe", { ...patience, skip }, async () => {
  const command = ["run", "--no-history", "x", "--", ...probe.agent([{ say: text }])];
  assert.equal((await probe.parley(command)).stdout, `${text}\n`);
  const { stdout } = await probe.atTerminal(30, command);
  assert.match(stdout, / {2}one two three four five six\r\n {2}seven eight nine ten eleven\r\n/);
});

test("what is going on does not wipe out what was said", { ...patience, skip }, async () => {
  const steps = [{ say: "half a line" }, { tool: { title: "Look" }, steps: [{ start: true as const }] }];
  const { stdout } = await probe.atTerminal(80, ["run", "--no-history", "x", "--", ...probe.agent(steps)]);
  assert.match(stdout, /half a line\r\n/);
});

test("of very many options the first are shown, and each can be chosen", { ...patience, skip }, async () => {
  const choices = Array.from({ length: 100_000 }, (_, at) => ({
    optionId: `id-${at}`,
    name: `Choice ${at}`,
    kind: "allow_once" as const,
  }));
  const steps = [{ ask: "Which?", choices, on: { "id-77777": [{ say: "the right one" }] } }];
  for (const answer of ["id-77777", "Choice 77777", "77778"]) {
    const command = ["run", "--no-history", "x", "--", ...probe.agent(steps)];
    const { status, stdout } = await probe.atTerminal(80, command, answering(`${answer}\n`));
    assert.equal(status, 0, stdout);
    assert.match(stdout, /Choice 0 .*\r\n/);
    assert.match(stdout, /… and \d+ more; type the number/);
    assert.ok(stdout.split("\n").length < 60);
    assert.match(stdout, /the right one/);
  }
});

test("y is a yes and n is a no, once, whatever the agent calls its options", {
  ...patience,
  skip,
}, async () => {
  const choices = [
    { optionId: "always", name: "Always", kind: "allow_always" as const },
    { optionId: "refuse", name: "y", kind: "reject_once" as const },
    { optionId: "accept", name: "n", kind: "allow_once" as const },
  ];
  const on = { accept: [{ say: "it said yes" }], refuse: [{ say: "it said no" }] };
  for (const [answer, said] of [
    ["y", "it said yes"],
    ["YES", "it said yes"],
    ["n", "it said no"],
    ["", "it said no"],
  ]) {
    const command = ["run", "--no-history", "x", "--", ...probe.agent([{ ask: "Do it?", choices, on }])];
    const { stdout } = await probe.atTerminal(80, command, answering(`${answer}\n`));
    assert.ok(stdout.includes(String(said)), `${answer}: ${stdout}`);
  }
});

test("what is said beside a no reaches an agent whose question has no place for it", {
  ...patience,
  skip,
}, async () => {
  const tool = { title: "Install", kind: "execute", rawInput: { command: "npm install" } } as const;
  const agent = probe.agent({
    turns: [
      { when: { contains: "which I did not allow: use pnpm" }, steps: [{ say: "pnpm it is" }] },
      { steps: [{ tool, steps: [{ ask: "Install?" }] }] },
    ],
  });
  const { stdout } = await probe.atTerminal(
    80,
    ["run", "--no-history", "x", "--", ...agent],
    answering("e\n", "use pnpm\n"),
  );
  assert.match(stdout, /pnpm it is/);
});

/** Typed when the question stands there: what was typed before is no answer to it. */
function answering(...answers: string[]): Parameters<RunProbe["atTerminal"]>[2] {
  let asked = 0;
  return {
    input: false,
    onOutput(shown, child) {
      const plain = stripVTControlCharacters(shown);
      const questions = plain.split(/Answer \([^)]*\): |Reason for the agent: /).length - 1;
      if (questions > asked) child.stdin?.write(answers[asked++] ?? "");
    },
  };
}

test("the line that continues a run has the proxies that were typed, as words for a shell, without secrets", {
  ...patience,
  skip,
}, async () => {
  const proxies = ["--proxy", "budget --time 30m", "--proxy", "redact --secret hunter2-hunter2"];
  const command = ["run", "x", ...proxies, "--", ...probe.agent([{ say: "done" }])];
  const { stdout } = await probe.atTerminal(300, command);
  const [, line = ""] = /continue with: \S+ (run .*)/.exec(stripVTControlCharacters(stdout)) ?? [];
  assert.match(
    line.trimEnd(),
    /^run --session \w+ --proxy "budget --time 30m" --proxy 'redact --secret "\[secret 1\]"' "\.\.\."$/,
    stdout,
  );
});
