// Rules of the user hold for our own agent too, which does its own file work and asks only where its mode says so. And
// what an agent of somebody else does without asking, against a rule, is told.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentStep } from "@parley/conformance/testing";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { eventsOf, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const at = (name: string) => join(probe.cwd, name);
const own = (prompt: string, ...flags: string[]) => probe.parley(["run", "--no-history", ...flags, prompt]);

test("what may not be read is not read by our own agent", patience, async () => {
  writeFileSync(at("a.txt"), "zebra in a");
  writeFileSync(at("b.txt"), "zebra in b");
  const denied = await own("read a.txt", "--deny", "read a.txt");
  assert.equal(denied.status, 3, denied.stdout);
  assert.doesNotMatch(denied.stdout, /zebra/);
  assert.match(denied.stderr, /refused by policy: read .*a\.txt\n.*deny read a\.txt \(--deny\)/);
  const other = await own("read b.txt", "--deny", "read a.txt");
  assert.equal(other.status, 0, other.stderr);
  assert.match(other.stdout, /zebra in b/);
  const policy = join(probe.folder, "rules");
  writeFileSync(policy, "deny read a.txt\n");
  assert.equal((await own("read a.txt", "--policy", policy)).status, 3);
  const piped = await probe.typed(
    'run --no-history --policy /dev/fd/3 "read a.txt" 3<<END\ndeny read a.txt\nEND\n',
  );
  assert.equal(piped.status, 3, piped.stderr);
});

test(
  "rules that deny paths hold in the sandbox of our own agent, whatever the command does",
  inSandbox,
  async () => {
    mkdirSync(at("sec"), { recursive: true });
    writeFileSync(at("sec/s.txt"), "zebra");
    writeFileSync(at("t.sh"), "cat sec/s.txt; echo x > sec/s.txt\n");
    const flags = ["--mode", "code", "--deny", "read sec/**", "--deny", "write sec/**"];
    const { stdout } = await own("run sh t.sh", ...flags);
    assert.match(stdout, /sh t\.sh/);
    assert.doesNotMatch(stdout, /zebra/);
    assert.equal(readFileSync(at("sec/s.txt"), "utf8"), "zebra");
  },
);

test("a search looks into nothing that may not be read, and says so", patience, async () => {
  mkdirSync(at("hidden"), { recursive: true });
  writeFileSync(at("hidden/inside.txt"), "zebra inside");
  writeFileSync(at("a.txt"), "zebra in a");
  writeFileSync(at("b.txt"), "zebra in b");
  const { status, stdout } = await own(
    "search zebra",
    "--deny",
    "read a.txt",
    "--deny",
    "read hidden",
    "--json",
  );
  assert.equal(status, 0, stdout);
  assert.match(stdout, /zebra in b/);
  assert.doesNotMatch(stdout, /zebra in a|zebra inside/);
  assert.match(stdout, /not searched, because the user's rules forbid it: a\.txt/);
  const found = await own('@tool find {"pattern": "*.txt"}', "--json", "--deny", "read hidden");
  assert.match(found.stdout, /b\.txt/);
  assert.doesNotMatch(found.stdout, /inside\.txt/);
});

test("a mode that changes files without asking changes none that a rule forbids", patience, async () => {
  const file = at("n.txt");
  const change = 'replace "one" with "two" in n.txt';
  for (const flags of [
    ["--deny", "write n.txt"],
    ["--deny", "read n.txt"],
    ["--deny", "*"],
  ]) {
    writeFileSync(file, "one\n");
    const { status, stderr } = await own(change, "--mode", "code", ...flags);
    assert.deepEqual([status, readFileSync(file, "utf8")], [3, "one\n"], stderr);
  }
  const events = eventsOf(await own(change, "--mode", "code", "--json", "--deny", "write n.txt"));
  const decision = events.find((each) => each.type === "decision" && each["effect"] === "deny");
  assert.deepEqual([decision?.["effect"], decision?.["by"]], ["deny", "rule"]);
  const allowed = await own(change, "--mode", "code", "--deny", "write other.txt", "--json");
  assert.equal(allowed.status, 0, allowed.stderr);
  assert.equal(readFileSync(file, "utf8"), "two\n");
  const by = eventsOf(allowed).filter(({ type }) => type === "decision");
  assert.ok(by.some((each) => each["effect"] === "allow" && each["by"] === "agent"));
  await own("move n.txt to m.txt", "--mode", "code", "--deny", "write m.txt");
  assert.ok(existsSync(file));
  await own("delete n.txt", "--mode", "code", "--deny", "write n.txt");
  assert.ok(existsSync(file));
});

test("a refusal of what only the mode asks about names the mode that does not", patience, async () => {
  const asked = await own("create new.txt with hi");
  assert.equal(asked.status, 3);
  assert.match(
    asked.stderr.replaceAll(/\s+/g, " "),
    /new\.txt \(nobody could be asked\) .*use --mode code, in which .* without asking; allow it for this run with --allow /,
  );
  assert.doesNotMatch(asked.stdout + asked.stderr, /the user/);
  const denied = await own("create new.txt with hi", "--deny", "write");
  assert.doesNotMatch(denied.stderr, /--mode code/);
});

test("what a workspace wants asked is not done where nobody can be asked", patience, async () => {
  mkdirSync(at(".parley"), { recursive: true });
  writeFileSync(at(".parley/policy"), "ask write n.txt\ndeny read secret.txt\n");
  assert.equal((await probe.parley(["trust", "--yes"])).status, 0);
  writeFileSync(at("n.txt"), "one\n");
  writeFileSync(at("secret.txt"), "zebra");
  const { status, stderr } = await own('replace "one" with "two" in n.txt', "--mode", "code");
  assert.equal(status, 3, stderr);
  assert.match(stderr, /nobody is there to ask|no rule can allow this/);
  assert.equal(readFileSync(at("n.txt"), "utf8"), "one\n");
  const read = await own("read secret.txt");
  assert.equal(read.status, 3);
  assert.doesNotMatch(read.stdout, /zebra/);
  rmSync(at(".parley"), { recursive: true });
});

test("everything that our own agent does without asking is in the log", patience, async () => {
  writeFileSync(at("b.txt"), "zebra in b");
  await own("read b.txt");
  const { stdout } = await probe.parley(["permissions", "log", "--json"]);
  assert.match(stdout, /"by":"agent"/);
});

test("what an agent did by itself against a rule is told, and is exit code 3", patience, async () => {
  const steps: AgentStep[] = [
    { tool: { title: "Look", kind: "read", locations: [{ path: at("x.txt") }] } },
    { tool: { title: "Run", kind: "execute", rawInput: { command: "rm x.txt" } } },
    { tool: { title: "Look", kind: "read", locations: [{ path: at("y.txt") }] } },
    { say: "done" },
  ];
  const rules = ["--deny", "read x.txt", "--deny", "exec rm"];
  for (const version of [1, 2] as const) {
    const play = { editions: [`v${version}`] as const, otherwise: steps };
    const text = await probe.run(play, rules);
    assert.equal(text.status, 3, text.stderr);
    assert.match(
      text.stderr,
      /the agent acted against a rule, without asking: read .*x\.txt \(deny read x\.txt \(--deny\)\)\n {2}run rm x\.txt .*\n.*cannot stop what an agent does itself: run it in a sandbox/,
    );
    const events = eventsOf(await probe.run(play, [...rules, "--json"]));
    const told = events.filter((each) => each["effect"] === "violation");
    assert.deepEqual(
      told.map((each) => [each.type, each["by"]]),
      [
        ["decision", "agent"],
        ["decision", "agent"],
      ],
    );
    const { error } = events.at(-1) as unknown as { error: { code: string } };
    assert.equal(error.code, "rule_broken");
    assert.equal((await probe.run(play, ["--format", "quiet"])).status, 0);
  }
  const { stdout } = await probe.parley(["permissions", "log", "--json"]);
  assert.match(stdout, /"effect":"violation"/);
});

test("so is it if a rule wanted it asked; what was asked or decided is not told", patience, async () => {
  const edit = {
    tool: { title: "Edit", kind: "edit", locations: [{ path: at("x.txt") }] },
  } satisfies AgentStep;
  const ran = await probe.run([edit, { say: "done" }], ["--ask", "write"]);
  assert.equal(ran.status, 3);
  assert.match(ran.stderr, /acted against a rule, without asking: write .*x\.txt \(ask write \(--ask\)\)/);
  // no rule, no offence
  assert.equal((await probe.run([edit, { say: "done" }])).status, 0);
  // nobody can be asked here: a no of ours is no offence either
  const asked: AgentStep[] = [
    { ...edit, steps: [{ ask: true }] },
    { ...edit, steps: [{ write: at("x.txt"), content: "x" }] },
    {
      tool: { title: "Run", kind: "execute", rawInput: { command: "true" } },
      steps: [{ run: { command: "true" } }],
    },
  ];
  const play = { editions: ["v1"] as const, otherwise: asked };
  const events = eventsOf(await probe.run(play, ["--ask", "write", "--ask", "exec", "--json"]));
  assert.equal(events.filter((each) => each["effect"] === "deny").length, 3);
  assert.deepEqual(
    events.filter((each) => each["effect"] === "violation"),
    [],
  );
});

test("what an agent asked about, and what was refused it, is no offence", patience, async () => {
  writeFileSync(at("x.txt"), "x");
  const asked: AgentStep = {
    tool: { title: "Run", kind: "execute", rawInput: { command: "rm x.txt" } },
    steps: [{ ask: true }],
  };
  const served: AgentStep = {
    tool: { title: "Look", kind: "read", locations: [{ path: at("x.txt") }] },
    steps: [{ read: at("x.txt") }],
  };
  const play = { editions: ["v1"] as const, otherwise: [asked, served, { say: "done" } satisfies AgentStep] };
  const flags = ["--deny", "read x.txt", "--deny", "exec rm", "--json"];
  const ran = await probe.run(play, flags);
  assert.equal(ran.status, 3);
  assert.deepEqual(
    eventsOf(ran).filter((each) => each["effect"] === "violation"),
    [],
  );
});
