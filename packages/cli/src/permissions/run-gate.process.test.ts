// What agents may do in a `parley run`, by the real binary: files and commands that they ask of it, and their questions.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentStep } from "@parley/conformance/testing";
import { eventsOf, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const at = (name: string) => join(probe.cwd, name);
const play = (...steps: AgentStep[]) => ({ editions: ["v1"] as const, otherwise: steps });

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
    assert.match(stderr, /--add-dir: .*nothing is not a directory/);
  },
);

test(
  "what an agent wanted outside the workspace is told, once each, and is a refusal",
  patience,
  async () => {
    const outside = (name: string) => join(probe.folder, name);
    const steps: AgentStep[] = [
      { read: outside("x.txt") },
      { read: outside("x.txt") },
      { write: outside("y.txt"), content: "" },
      { run: { command: "pwd", args: [], cwd: probe.folder } },
      { say: "done" },
    ];
    const text = await probe.run(play(...steps));
    assert.equal(text.status, 3, text.stderr);
    assert.equal(text.stdout.match(/read .*x\.txt: refused \(it leads outside the workspace\)/g)?.length, 1);
    assert.match(
      text.stderr,
      /^parley: refused by policy, 4 times: read .*x\.txt \(outside the workspace\)\n {2}write .*y\.txt \(outside the workspace\)\n {2}run pwd .*\n.*--add-dir DIR/,
    );
    const quiet = await probe.run(play(...steps), ["--format", "quiet"]);
    assert.deepEqual([quiet.status, quiet.stdout], [3, "done\n"]);
    assert.match(quiet.stderr, /x\.txt[\s\S]*y\.txt/);
    const end = eventsOf(await probe.run(play(...steps), ["--json"])).at(-1);
    assert.deepEqual([end?.["exitCode"], end?.["refused"]], [3, 4]);
  },
);

test("rules of the user, of the workspace and of a file count together", patience, async () => {
  const policy = join(probe.folder, "policy");
  writeFileSync(policy, "allow exec echo **\n");
  const echo = (word: string) =>
    play({ run: { command: "echo", args: [word] }, as: "out" }, { say: "{{out}}" });
  assert.equal((await probe.run(echo("one"), ["--policy", policy])).status, 0);
  await probe.parley(["permissions", "add", "deny", "exec", "echo two"]);
  const { status, stderr } = await probe.run(echo("two"), ["--policy", policy]);
  assert.equal(status, 3);
  assert.match(stderr, /refused by policy: run echo two/);
  const wrong = await probe.run(echo("one"), ["--allow", "everything"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /--allow: expected a rule that starts with one of read, write/);
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
  const open = ["--sandbox", "off", "--allow", "exec echo **"];
  assert.equal((await probe.run(line, open)).status, 3);
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
  "a refusal says which rule to paste and how long it holds, and that rule helps, for a run and from then on",
  patience,
  async () => {
    const refused = await probe.parley(["run", "--no-history", "run pwd"]);
    assert.equal(refused.status, 3);
    const [, flag = "", rule = ""] =
      /with --allow "(.+?)", or here for 30 days with \S*parley permissions add allow "(.+?)"$/m.exec(
        refused.stderr,
      ) ?? [];
    assert.deepEqual([flag, rule], ["exec pwd", "exec pwd"]);
    assert.equal((await probe.parley(["run", "--no-history", "--allow", flag, "run pwd"])).status, 0);
    assert.equal((await probe.parley(["permissions", "add", "allow", rule])).status, 0);
    const { status, stdout } = await probe.parley(["run", "--no-history", "run pwd"]);
    assert.equal(status, 0);
    assert.ok(stdout.includes(probe.cwd));
  },
);

test("what a refusal recommends works as it is written, and means nothing else", patience, async () => {
  const other = join(probe.folder, "second");
  mkdirSync(other);
  mkdirSync(at("sub"));
  writeFileSync(at("sub/it.sh"), "#!/bin/sh\necho it ran\n", { mode: 0o755 });
  const inSub = { run: { command: "./it.sh", args: ["a # 'b'"], cwd: at("sub") }, as: "out" };
  const cases: { readonly step: AgentStep; readonly notThat?: AgentStep }[] = [
    {
      step: { write: at("same.txt"), content: "new" },
      notThat: { write: join(other, "same.txt"), content: "new" },
    },
    { step: { write: at("it's $HOME #1.txt"), content: "new" } },
    { step: inSub },
  ];
  for (const { step, notThat } of cases) {
    const first = await probe.run(play(step), ["--sandbox", "off", "--add-dir", other]);
    assert.equal(first.status, 3);
    const [, flags = "", add = ""] =
      /^parley: allow it for this run with (--allow .+), or here for 30 days with \S*parley (permissions add .+)$/m.exec(
        first.stderr,
      ) ?? [];
    const run = (given: string, steps: AgentStep) =>
      probe.typed(
        `run --no-history hello --sandbox off --add-dir "$OTHER" ${given} -- "$@"`,
        probe.agent(play(steps)),
        {
          env: { OTHER: other },
        },
      );
    const again = await run(flags, step);
    assert.equal(again.status, 0, `${flags}: ${again.stderr}`);
    assert.equal((await probe.typed(add)).status, 0, add);
    if (notThat === undefined) assert.equal((await run("", step)).status, 0, add);
    else assert.equal((await run(flags, notThat)).status, 3, add);
  }
});

test("what is recommended for a run in another directory is for that directory", patience, async () => {
  const other = join(probe.folder, "it's another");
  mkdirSync(other);
  const typed = `run --no-history -C "$OTHER" "run pwd"`;
  const env = { OTHER: other };
  const refused = await probe.typed(typed, [], { env });
  assert.equal(refused.status, 3);
  const [, add = ""] =
    /, or there for 30 days with \S*parley (permissions add .+)$/m.exec(refused.stderr) ?? [];
  assert.match(add, /--cwd/, refused.stderr);
  assert.equal((await probe.typed(add)).status, 0, add);
  const again = await probe.typed(typed, [], { env });
  assert.equal(again.status, 0, again.stderr);
});

test("for a shell line the hint says that the rule allows every command", patience, async () => {
  const refused = await probe.parley(["run", "--no-history", "run pwd | wc -l"]);
  assert.match(refused.stderr, /needs --allow "exec \*\*", which allows every command/);
  const allowed = await probe.parley(["run", "--no-history", "--allow", "exec **", "run pwd | wc -l"]);
  assert.equal(allowed.status, 0, allowed.stderr);
});

test("where no rule can allow it, none is recommended", patience, async () => {
  writeFileSync(at(".env"), "A=1\n");
  const secret = await probe.run(play({ read: at(".env") }));
  assert.equal(secret.status, 3);
  assert.match(secret.stderr, /no rule can allow this: run it at a terminal/);
  const denied = await probe.run(play({ write: at("c.txt"), content: "" }), ["--deny", "write c.txt"]);
  assert.match(denied.stderr, /--allow cannot override this: deny write c\.txt \(--deny\)/);
  const question = await probe.run(play({ tool: { title: "Magic" }, steps: [{ ask: true }] }));
  assert.match(question.stderr, /no rule can allow this/);
});

test("refusals without end are counted to the last, and shown to an end", patience, async () => {
  const steps = Array.from({ length: 1_203 }, (_, at) => ({ read: join(probe.folder, `no-${at}`) }));
  const { status, stdout, stderr } = await probe.run(play(...steps, { say: "done" }));
  assert.equal(status, 3);
  assert.ok(stdout.split("\n").length < 150, stdout);
  assert.match(stderr, /^parley: refused by policy, 1203 times: /);
  assert.ok(stderr.split("\n").length < 12, stderr);
});

test("a file that a diff names is what a rule is about, in both versions", patience, async () => {
  const steps: AgentStep[] = [
    {
      tool: { title: "Edit", kind: "edit", locations: [{ path: at("diffed.txt") }] },
      steps: [
        { diff: { path: at("diffed.txt"), newText: "new", oldText: "old" } },
        { ask: true, on: { allow_once: [{ say: "it was allowed" }] } },
      ],
    },
  ];
  for (const version of [1, 2] as const) {
    const play = { editions: [`v${version}`] as const, otherwise: steps };
    const allowed = await probe.run(play, ["--allow", "write diffed.txt"]);
    assert.deepEqual([version, allowed.status], [version, 0], allowed.stderr);
    assert.match(allowed.stdout, /it was allowed/);
    assert.equal((await probe.run(play, ["--allow", "write other.txt"])).status, 3);
  }
});

test(
  "rules of a workspace that are a link are not read: nothing of another file is shown",
  patience,
  async () => {
    const secret = join(probe.folder, "secret");
    writeFileSync(secret, "TOKEN=hush\n");
    for (const [link, target] of [
      [at(".parley/policy"), secret],
      [at(".parley"), probe.folder],
    ] as const) {
      rmSync(at(".parley"), { recursive: true, force: true });
      mkdirSync(join(link, ".."), { recursive: true });
      symlinkSync(target, link);
      const { status, stderr } = await probe.run(play({ write: at("l.txt"), content: "x" }));
      assert.equal(status, 3, stderr);
      assert.match(
        stderr,
        /\.parley(?:\/policy)? is a symbolic link; the rules of this workspace are ignored/,
      );
      assert.doesNotMatch(stderr, /hush/);
    }
    rmSync(at(".parley"), { recursive: true, force: true });
  },
);

test("logs of months ago go with the next run, and nothing is missed", patience, async () => {
  const folder = join(probe.home, "state/audit");
  const run = () => probe.run(play({ read: at("a.txt") }, { say: "done" }));
  await run();
  const old = readdirSync(folder).filter((name) => name.endsWith(".ndjson"));
  for (const name of old) utimesSync(join(folder, name), 0, 0);
  rmSync(join(folder, "pruned"));
  assert.equal((await run()).status, 0);
  const now = readdirSync(folder).filter((name) => name.endsWith(".ndjson"));
  assert.deepEqual([now.length, now.some((name) => old.includes(name))], [1, false]);
  const { status, stdout } = await probe.parley(["permissions", "verify"]);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^1 logs, .* 0 changed, 0 missing$/m);
  assert.match((await probe.parley(["permissions", "log"])).stdout, /a\.txt/);
});
