// `--sandbox agent`: the whole agent runs in a sandbox, or not at all.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { workplace } from "../../../sandbox/test/support/workplace.ts";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const agent = [
  process.execPath,
  join(import.meta.dirname, "../../../client/test/support/shell-agent.ts"),
] as const;

/** Runs a script as the agent, in a workspace of its own. */
function place(t: TestContext) {
  const { home, work, outside } = workplace(t);
  const env = { HOME: home, PARLEY_HOME: join(home, "parley"), XDG_CACHE_HOME: undefined };
  const run = (args: readonly string[], more: object = {}) =>
    probe.parley(["run", "--no-history", ...args], { cwd: work, env: { ...env, ...more } });
  return { home, work, outside, env, run };
}

test(
  "an agent in a sandbox writes only to its directories, and rules on paths hold for all of it",
  inSandbox,
  async (t) => {
    const { work, outside, run } = place(t);
    const script = `echo new >file; cat ~/.npmrc; echo evil >${outside}/file; echo done`;
    const args = ["--sandbox", "agent", "--sandbox", "strict", "--deny", "read locked/**", script];
    const { stdout, stderr, status } = await run([...args, "--", ...agent]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^done\n/);
    assert.doesNotMatch(stdout, /SECRET/);
    assert.equal(readFileSync(join(work, "file"), "utf8"), "new\n");
    assert.equal(readFileSync(join(outside, "file"), "utf8"), "kept");
    const denied = await run([...args.slice(0, -1), "cat locked/file; echo x >file", "--", ...agent]);
    assert.doesNotMatch(denied.stdout, /kept/);
  },
);

test("the config puts an agent into a sandbox, with its state", inSandbox, async (t) => {
  const { home, env, run } = place(t);
  mkdirSync(join(home, "parley/config"), { recursive: true });
  const [command, ...args] = agent;
  const mine = { command, args, sandbox: true, state: ["~/.mine"] };
  writeFileSync(join(home, "parley/config/config.json"), JSON.stringify({ agents: { mine } }));
  const script = "echo x >~/.mine/a && mv ~/.mine/a ~/.mine/b && cat ~/.mine/b; cat ~/.ssh/id_ed25519";
  const { stdout } = await run(["--agent", "mine", script]);
  assert.match(stdout, /^x\n.*Permission denied/s);
  assert.equal(readFileSync(join(home, ".mine/b"), "utf8"), "x\n");
  const check = await probe.parley(["agents", "check", "mine", "--no-tools", "--json"], { env });
  assert.equal(JSON.parse(check.stdout).data.sandboxed, true);
});

test("hooks and settings that are new are shown at the end of the run", inSandbox, async (t) => {
  const { work, run } = place(t);
  const { stderr } = await run(["--sandbox", "agent", "mkdir -p a/.vscode", "--", ...agent]);
  const path = join(work, "a/.vscode");
  assert.match(stderr, /is new, and other programs obey it: look at it before you use it/);
  assert.ok(stderr.replaceAll(/\s+/g, " ").includes(path), stderr);
  assert.ok(existsSync(path));
});

test("our own agent works in a sandbox, and cannot change our rules there", inSandbox, async (t) => {
  const { home, run } = place(t);
  const first = await run(["--sandbox", "agent", "read file"]);
  assert.match(first.stdout, /old/, first.stderr);
  assert.ok(existsSync(join(home, "parley/state")));
  // its commands have a sandbox inside, also as root, so that nobody is asked
  const inner = await run([
    "--sandbox",
    "agent",
    "--mode",
    "code",
    `run touch ${home}/parley/state/x; cat file`,
  ]);
  assert.match(inner.stdout, /old/, inner.stderr);
  assert.ok(!existsSync(join(home, "parley/state/x")));
  // something else in its place
  const [command, ...args] = agent;
  const kept = ["config/config.json", "config/policy", "data/permissions.ndjson", "state/trust/x"];
  const files = kept.map((path) => join(home, "parley", path));
  for (const path of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      path.endsWith("config.json") ? JSON.stringify({ agents: { parley: { command, args } } }) : "",
    );
  }
  const before = files.map((path) => readFileSync(path, "utf8"));
  const script = `for path in ${files.join(" ")}; do echo "allow *" >>"$path"; done; cat ${files[0]}; echo x >${home}/parley/state/mine`;
  const other = await run(["--sandbox", "agent", script]);
  assert.match(other.stdout, /"agents"/, other.stderr);
  assert.ok(existsSync(join(home, "parley/state/mine")));
  assert.deepEqual(
    files.map((path) => readFileSync(path, "utf8")),
    before,
  );
});

test("where no sandbox can start, the agent is not started", patience, async (t) => {
  const { work, home, run } = place(t);
  const bin = join(home, "bin");
  mkdirSync(bin);
  t.after(() => rmSync(bin, { recursive: true, force: true }));
  const refuse = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
  writeFileSync(join(bin, "bwrap"), refuse, { mode: 0o755 });
  const PATH = `${bin}:${process.env["PATH"]}`;
  const { status, stdout, stderr } = await run(["--sandbox", "agent", "echo x >file", "--", ...agent], {
    PATH,
  });
  assert.equal(status, 5);
  assert.equal(stdout, "");
  assert.match(stderr, /node was not started: no sandbox can start: /);
  assert.equal(readFileSync(join(work, "file"), "utf8"), "old");
});

test("a wrong or a second profile is a usage error", patience, async (t) => {
  const { run } = place(t);
  const wrong = await run(["--sandbox", "loose", "hi", "--", ...agent]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /expected agent, workspace, read-only, strict, off, got loose/);
  const two = await run(["--sandbox", "strict", "--sandbox", "off", "hi", "--", ...agent]);
  assert.match(two.stderr, /expected one profile of commands, got strict and off/);
});
