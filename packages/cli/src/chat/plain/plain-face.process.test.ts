// Tests `parley chat --plain` through pipes, and `parley` alone at a terminal.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { patience, RunProbe } from "../../../test/support/run-probe.ts";

const probe = new RunProbe();
const asks = {
  tool: { title: "Delete everything", kind: "delete" },
  steps: [
    {
      ask: true,
      on: {
        refused: [{ say: "not done" }],
        cancelled: [{ say: "not done" }],
        allowed: [{ say: "deleted" }],
      },
    },
  ],
} as const;

test(
  "prompts come line by line through a pipe, with commands, lists by number and a shell line",
  patience,
  async () => {
    const configOptions = [
      {
        type: "select",
        configId: "mode",
        name: "Mode",
        category: "mode",
        currentValue: "ask",
        options: [
          { value: "ask", name: "Ask" },
          { value: "code", name: "Code" },
        ],
      },
    ] as const;
    const agent = probe.agent({
      open: { configOptions },
      otherwise: [{ say: "you said {{prompt}}" }],
    } as never);
    const input = "hello\n/mode\n2\n!echo from the shell\n/rename A title\n/export out.md\nagain\n";
    const ran = await probe.parley(["chat", "--plain", "--", ...agent], { input, cwd: probe.cwd });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /^> hello\n\nyou said hello\n/);
    assert.match(
      ran.stdout,
      /Mode:\n1\. Ask \(now\)\n2\. Code\nNumber, 1 to 2, or Enter for none: 2\nMode: code\n/,
    );
    assert.match(ran.stdout, /! echo from the shell\n {4}from the shell\n/);
    assert.match(ran.stdout, /you said again/);
    assert.match(readFileSync(join(probe.cwd, "out.md"), "utf8"), /^# A title\n/);
    assert.equal(ran.stdout.includes("\u001b"), false, "no escape sequence");
  },
);

test("in a pipe nobody is asked: a line is never the answer to a permission question", patience, async () => {
  const agent = probe.agent([asks]);
  const input = "do it\ny\n";
  const ran = await probe.parley(["chat", "--plain", "--", ...agent], { input, cwd: probe.cwd });
  assert.match(ran.stdout, /not done/);
  assert.doesNotMatch(ran.stdout, /deleted/);
  assert.match(ran.stderr, /refused/);
});

test("chat without a terminal and without --plain says what to do", patience, async () => {
  const ran = await probe.parley(["chat"], { cwd: probe.cwd });
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /chat needs a terminal[\s\S]*--plain/);
});

test("an agent that does not start ends a pipe with its reason", patience, async () => {
  const ran = await probe.parley(["chat", "--plain", "--", "no-such-agent"], {
    input: "hi\n",
    cwd: probe.cwd,
  });
  assert.equal(ran.status, 1);
  assert.match(ran.stderr, /no-such-agent/);
});

test(
  "parley alone opens a conversation; a question is asked, and what was typed before it is no answer",
  patience,
  async () => {
    const [command, ...args] = probe.agent([asks]);
    const home = join(probe.folder, "asked");
    const env = { PARLEY_HOME: home, PARLEY_PLAIN: "1" };
    const set = await probe.parley(["agents", "add", "mine", "--", command ?? "", ...args], { env });
    assert.equal(set.status, 0, set.stderr);
    await probe.parley(["config", "set", "client.agent", "mine"], { env });
    const steps = [
      { when: /Type a prompt/, type: "do it\ryes" },
      { when: /n\/Enter no/, type: "\r" },
      { when: /not done/, type: "\u0015\u0004" },
    ];
    const ran = await probe.atTerminal(80, [], {
      env,
      cwd: probe.cwd,
      input: false,
      onOutput(stdout, child) {
        const [next] = steps;
        if (next === undefined || !next.when.test(stdout)) return;
        steps.shift();
        child.stdin?.write(next.type);
      },
    });
    assert.equal(ran.status, 0, ran.stdout);
    assert.match(ran.stdout, /Delete everything/);
    assert.match(ran.stdout, /not done/);
    assert.doesNotMatch(ran.stdout, /deleted/);
  },
);

test("the config file makes every conversation plain", patience, async () => {
  const env = { PARLEY_HOME: join(probe.folder, "plain") };
  const set = await probe.parley(["config", "set", "chat.plain", "true"], { env });
  assert.equal(set.status, 0, set.stderr);
  const agent = probe.agent([{ say: "here" }]);
  const ran = await probe.parley(["chat", "--", ...agent], { env, input: "hi\n", cwd: probe.cwd });
  assert.match(ran.stdout, /here/);
});
