// What agents may do in a `parley run`, by the real binary: files and commands that they ask of it, and their questions.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentStep } from "@parley/acp/testing";
import { patience, RunProbe } from "../run/run-probe.ts";

const probe = new RunProbe();
const at = (name: string) => join(probe.cwd, name);
const play = (...steps: AgentStep[]) => ({ versions: [1] as const, otherwise: steps });

test("a file is read without asking, and written only where a rule allows it", patience, async () => {
  writeFileSync(at("a.txt"), "from the disk");
  const steps: AgentStep[] = [
    { read: at("a.txt"), as: "text" },
    { say: "{{text}}" },
    { write: at("b.txt"), content: "new" },
  ];
  const refused = await probe.run(play(...steps));
  assert.equal(refused.status, 3);
  assert.match(refused.stdout, /from the disk/);
  assert.match(refused.stderr, /refused by policy: write .*b\.txt/);
  assert.equal(existsSync(at("b.txt")), false);
  const allowed = await probe.run(play(...steps), ["--allow", "write b.txt"]);
  assert.equal(allowed.status, 0);
  assert.equal(readFileSync(at("b.txt"), "utf8"), "new");
  const denied = await probe.run(play(...steps), ["--allow", "write b.txt", "--deny", "write *.txt"]);
  assert.equal(denied.status, 3);
});

test(
  "a directory beside the workspace is served where it was named, and nowhere else (C18, C19)",
  patience,
  async () => {
    const other = join(probe.folder, "other");
    mkdirSync(other);
    writeFileSync(join(other, "c.txt"), "from beside");
    const steps = play({ read: join(other, "c.txt"), as: "text" }, { say: "{{text}}" });
    assert.ok(!(await probe.run(steps)).stdout.includes("from beside"));
    const named = await probe.run(steps, ["--add-dir", other, "--add-dir", other]);
    assert.match(named.stdout, /from beside/);
    const { status, stderr } = await probe.run(steps, ["--add-dir", join(other, "nothing")]);
    assert.equal(status, 2);
    assert.match(stderr, /--add-dir .*nothing is no directory/);
  },
);

test("rules of the user, of the workspace and of a file count together", patience, async () => {
  const policy = join(probe.folder, "policy");
  writeFileSync(policy, "allow exec echo *\n");
  const echo = (word: string) =>
    play({ run: { command: "echo", args: [word] }, as: "out" }, { say: "{{out}}" });
  assert.equal((await probe.run(echo("one"), ["--policy", policy])).status, 0);
  await probe.parley(["permissions", "add", "deny", "exec", "echo two"]);
  const { status, stderr } = await probe.run(echo("two"), ["--policy", policy]);
  assert.equal(status, 3);
  assert.match(stderr, /refused by policy: run echo two/);
  const wrong = await probe.run(echo("one"), ["--allow", "everything"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /--allow: a rule begins with read, write/);
});

test(
  "a question without a rule is answered with a no at once, and the log has all of it",
  patience,
  async () => {
    const ask: AgentStep = {
      tool: { title: "Read the README", kind: "read", rawInput: { command: "rm -rf ." } },
      steps: [{ ask: true, on: { allowed: [{ say: "yes" }], refused: [{ say: "no" }] } }],
    };
    const { status, stdout } = await probe.run(play(ask));
    assert.equal(status, 3);
    assert.match(stdout, /run rm -rf \. \(in .*refused/);
    const log = await probe.parley(["permissions", "log", "--json", "-n", "200"]);
    const { entries } = JSON.parse(log.stdout).data as {
      entries: { kind: string; operation: string; target: string }[];
    };
    assert.ok(entries.some(({ kind, target }) => kind === "decision" && target === "rm -rf ."));
    assert.ok(entries.some(({ kind, target }) => kind === "intent" && target === at("a.txt")));
    assert.match((await probe.parley(["permissions", "verify"])).stdout, / 0 changed/);
  },
);

test("a whole shell line in command runs in a shell (interop bug 18)", patience, async () => {
  const line = play({ run: { command: "echo three && echo four | tr o 0" }, as: "out" }, { say: "{{out}}" });
  const { status, stdout } = await probe.run(line, ["--allow", "exec **"]);
  assert.equal(status, 0);
  assert.match(stdout, /three\s+f0ur/);
  assert.equal((await probe.run(line, ["--allow", "exec echo *"])).status, 3);
});

test("a command does not get what is Parley's own or another agent's mark (TH7)", patience, async () => {
  const env = { PARLEY_GATEWAY_TOKEN: "canary-token", CLAUDECODE: "canary-mark" };
  const steps = play({ run: { command: "env", args: [] }, as: "out" }, { say: "{{out}}" });
  const { status, stdout } = await probe.run(steps, ["--allow", "exec env"], { env });
  assert.equal(status, 0);
  assert.match(stdout, /PATH=/);
  assert.ok(!stdout.includes("canary"));
});

test(
  "a refusal says which rule to paste, and that rule helps, for a run and for good",
  patience,
  async () => {
    const refused = await probe.parley(["run", "--no-history", "run pwd"]);
    assert.equal(refused.status, 3);
    const [, flag = "", rule = ""] =
      /with --allow "(.+?)", or for good with parley permissions add allow "(.+?)"/.exec(refused.stderr) ??
      [];
    assert.deepEqual([flag, rule], ["exec pwd", "any:exec pwd"]);
    assert.equal((await probe.parley(["run", "--no-history", "--allow", flag, "run pwd"])).status, 0);
    assert.equal((await probe.parley(["permissions", "add", "allow", rule])).status, 0);
    const { status, stdout } = await probe.parley(["run", "--no-history", "run pwd"]);
    assert.equal(status, 0);
    assert.ok(stdout.includes(probe.cwd));
  },
);

test("for a shell line the hint says that the rule allows every command", patience, async () => {
  const refused = await probe.parley(["run", "--no-history", "run pwd | wc -l"]);
  assert.match(refused.stderr, /only where every command is, with --allow "exec \*\*"/);
  const allowed = await probe.parley(["run", "--no-history", "--allow", "exec **", "run pwd | wc -l"]);
  assert.equal(allowed.status, 0, allowed.stderr);
});

test("where no rule can allow it, none is recommended", patience, async () => {
  writeFileSync(at(".env"), "A=1\n");
  const secret = await probe.run(play({ read: at(".env") }));
  assert.equal(secret.status, 3);
  assert.match(secret.stderr, /no --allow is for that: run it at a terminal/);
  const denied = await probe.run(play({ write: at("c.txt"), content: "" }), ["--deny", "write c.txt"]);
  assert.match(denied.stderr, /no --allow goes beyond that: deny any:write c\.txt \(--deny\)/);
  const question = await probe.run(play({ tool: { title: "Magic" }, steps: [{ ask: true }] }));
  assert.match(question.stderr, /no --allow is for that/);
});
