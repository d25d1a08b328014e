// Tests `parley chat --plain` through pipes, and `parley` alone at a terminal.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
      /Mode:\n1\. Ask \(now\)\n2\. Code\nNumber, 1 to 2, or Enter for none: 2\n\n! mode: Ask → Code\n/,
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
      { when: /n\/Enter, e/, type: "\r" },
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

test("what a rule refuses is one line, with the rule", patience, async () => {
  const agent = probe.agent([asks]);
  const env = { PARLEY_HOME: join(probe.folder, "refused") };
  const ran = await probe.parley(["chat", "--plain", "--deny", "*", "--", ...agent], {
    env,
    input: "do it\n",
    cwd: probe.cwd,
  });
  assert.match(ran.stdout, /^\? Delete everything: refused: deny \* \(--deny\)$/m);
  assert.equal(`${ran.stdout}${ran.stderr}`.split("refused").length - 1, 1, ran.stderr);
});

test("the config file makes every conversation plain", patience, async () => {
  const env = { PARLEY_HOME: join(probe.folder, "plain") };
  const set = await probe.parley(["config", "set", "chat.plain", "true"], { env });
  assert.equal(set.status, 0, set.stderr);
  const agent = probe.agent([{ say: "here" }]);
  const ran = await probe.parley(["chat", "--", ...agent], { env, input: "hi\n", cwd: probe.cwd });
  assert.match(ran.stdout, /here/);
});

test("changes are reviewed by number, and a turn is taken back and put back", patience, async () => {
  const file = join(probe.cwd, "notes.txt");
  writeFileSync(file, "one\ntwo\n");
  const agent = probe.agent([{ write: file, content: "one\nTWO\n" }, { say: "written" }] as never);
  const input = "change it\n/undo\n/redo\n/review\n1\nu\n\n/files\n";
  const flags = ["chat", "--plain", "--edition", "v1", "--allow", "write **"];
  const ran = await probe.parley([...flags, "--", ...agent], { input, cwd: probe.cwd });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /1 file \+1 -1[\s\S]*undone notes\.txt[\s\S]*redone notes\.txt/);
  assert.match(
    ran.stdout,
    /1\. notes\.txt, line 2, \+1 -1[\s\S]*2 - two\n2 \+ TWO\n[\s\S]*undone notes\.txt/,
  );
  assert.equal(readFileSync(file, "utf8"), "one\ntwo\n");
});

test("with our own agent there is one /undo, that of chat, and one snapshot", patience, async () => {
  const cwd = join(probe.folder, "one-undo");
  const home = join(probe.folder, "one-undo-home");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "notes.txt"), "hello\n");
  const input = "delete notes.txt\n/undo\n/help\n";
  const env = { PARLEY_HOME: home, PARLEY_MODEL: "offline" };
  const flags = ["chat", "--plain", "--mode", "code", "--allow", "write **"];
  const ran = await probe.parley(flags, { input, cwd, env });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /undone notes\.txt/);
  assert.equal(readFileSync(join(cwd, "notes.txt"), "utf8"), "hello\n");
  assert.equal(ran.stdout.split("/undo: ").length - 1, 1, ran.stdout);
  const store = join(home, "state/review");
  const workspaces = readdirSync(store, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(
    workspaces.map(({ name }) => readdirSync(join(store, name)).length),
    [1],
  );
});

test(
  "a signal ends the conversation in order: no agent is left, and the draft is kept",
  patience,
  async () => {
    for (const isPlain of [true, false]) {
      const home = join(probe.folder, `ended-${isPlain}`);
      let step = 0;
      const ran = await probe.atTerminal(
        80,
        ["chat", ...(isPlain ? ["--plain"] : []), "--", ...probe.agent([{ say: "here" }])],
        {
          env: { PARLEY_HOME: home },
          cwd: probe.cwd,
          input: false,
          onOutput(stdout, child) {
            if (step === 0 && /(?:Type a prompt|write)/.test(stdout)) {
              step = 1;
              child.stdin?.write("hi\r");
            } else if (step === 1 && stdout.includes("here")) {
              step = 2;
              // the shell is a child of the conversation
              child.stdin?.write("!sleep 1; kill -TERM $PPID\rnot sent yet");
            }
          },
        },
      );
      assert.equal(ran.status, 143, ran.stdout);
      assert.deepEqual(probe.leftovers(), []);
      const drafts = join(home, "state", "drafts");
      const [draft = ""] = readdirSync(drafts);
      assert.equal(readFileSync(join(drafts, draft), "utf8"), "not sent yet");
    }
  },
);

test("a theme that there is not is a usage error", patience, async () => {
  const ran = await probe.parley(["chat", "--plain", "--theme", "pink"], { input: "" });
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /use terminal, dark, light, colour-blind, mono/);
});

test("an ignored file that is written for the agent is taken back too", patience, async () => {
  const cwd = join(probe.folder, "ignoring");
  mkdirSync(cwd);
  execFileSync("git", ["init", "--quiet"], { cwd });
  writeFileSync(join(cwd, ".gitignore"), "*.log\n");
  const file = join(cwd, "kept.log");
  writeFileSync(file, "old\n");
  const agent = probe.agent({
    otherwise: [{ write: file, content: "new\n" }, { say: "written" }],
  } as never);
  const flags = ["--plain", "--edition", "v1", "--allow", "write **"];
  const ran = await probe.parley(["chat", ...flags, "--", ...agent], { input: "go\n/undo\n", cwd });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /undone kept\.log/);
  assert.equal(readFileSync(file, "utf8"), "old\n");
});

/** It ends in each prompt, and opens no session when it is started again. Code -32000 wants a login. */
const refusing = `
  const { existsSync, writeFileSync } = require("node:fs");
  const [mark, code] = process.argv.slice(1);
  const isAgain = existsSync(mark);
  writeFileSync(mark, "");
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") send({ id, result: { protocolVersion: 1 } });
    else if (method === "session/new" && isAgain) send({ id, error: { code: Number(code), message: "no more sessions" } });
    else if (method === "session/new") send({ id, result: { sessionId: "s" } });
    else if (method === "session/prompt") {
      const content = { type: "text", text: "begun" };
      if (JSON.stringify(params).includes("begin"))
        send({ method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content } } });
      process.stdout.write("", () => process.exit(7));
    }
  });`;

for (const [first, code, words] of [
  ["die", "-32603", /the agent ended: .* exited with code 7/],
  ["begin, then die", "-32603", /no more sessions/],
  ["die", "-32000", /wants a login/],
  ["begin, then die", "-32000", /wants a login/],
] as const) {
  test(
    `a pipe ends when its agent has crashed and opens no session again: "${first}", then ${code}`,
    patience,
    async () => {
      const mark = join(probe.folder, `refusing-${first.length}${code}`);
      const agent = ["--", process.execPath, "-e", refusing, mark, code];
      const input = `${first}\nanother\nand another\n`;
      const ran = await probe.parley(["chat", "--plain", "--no-history", ...agent], { input });
      assert.equal(ran.status, 1, ran.stdout + ran.stderr);
      assert.match(ran.stderr, words);
      assert.deepEqual(probe.leftovers(), []);
    },
  );
}

test("a pipe whose last prompt ends the agent has failed", patience, async () => {
  const agent = probe.agent([{ say: "begun" }, { crash: { exitCode: 7 } }] as never);
  const ran = await probe.parley(["chat", "--plain", "--no-history", "--", ...agent], { input: "one\n" });
  assert.equal(ran.status, 1, ran.stdout + ran.stderr);
  assert.match(ran.stderr, /exited with code 7/);
});
