import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type GateOptions,
  parseRule,
  permissionGate,
  type Rule,
  rememberedRules,
} from "@parley/client/policy";
import { folder, rules } from "../../test/support/gate-probe.ts";
import { RuleError, type RuleSubject } from "../policy.ts";

const session = { sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] };
const write = (path: string): RuleSubject => ({
  origin: "op",
  operation: "write",
  path: join("/nowhere/w", path),
});
const read = (path: string): RuleSubject => ({ ...write(path), operation: "read" });
const check = (options: GateOptions, ...subjects: RuleSubject[]) =>
  permissionGate(options).check(session, subjects);

const from = (origin: Rule["origin"], effect: Rule["effect"], text: string): Rule =>
  parseRule(text, { effect, origin });

test("deleting is writing", () => {
  const remove: RuleSubject = { ...write("a"), deletes: true };
  assert.equal(check({ rules: rules("deny write a") }, remove).effect, "deny");
  assert.equal(check({ rules: rules("deny write b") }, remove).effect, "ask");
  assert.equal(check({ rules: rules("allow write a") }, remove).effect, "allow");
});

test("deny wins over ask and ask over allow, whoever says it and in whatever order", () => {
  const all = [
    from("operator", "allow", "write a"),
    from("workspace", "ask", "write a"),
    from("launch", "deny", "write a"),
  ];
  for (const order of [all, all.toReversed()])
    assert.equal(check({ rules: order }, write("a")).effect, "deny");
  for (const order of [all.slice(0, 2), all.slice(0, 2).toReversed()]) {
    const { effect, always } = check({ rules: order }, write("a"));
    assert.deepEqual([effect, always], ["ask", true]);
  }
});

test("which rule fired is told, and whose it is", () => {
  const given: Rule = { ...from("user", "deny", "write a"), source: "policy.json" };
  const { rule, reason } = check({ rules: [given] }, write("a"));
  assert.equal(rule, given);
  assert.equal(reason, "deny write a (policy.json)");
  const several = [from("user", "deny", "write a"), from("operator", "deny", "write")];
  assert.match(check({ rules: several }, write("a")).reason, /policy of this machine/);
});

test("without rules reading in the workspace is allowed and everything else is asked", () => {
  assert.equal(check({}, read("a")).effect, "allow");
  assert.equal(check({}, write("a")).effect, "ask");
  assert.equal(check({}, { origin: "claim", operation: "read", path: "/nowhere/w/a" }).effect, "ask");
});

test("below the root of everything, or a home, reading is asked about too", () => {
  const wide = { sessionId: "s", cwd: "/", roots: ["/"] };
  assert.equal(permissionGate({}).check(wide, [read("a")]).effect, "ask");
});

test("of several things at once the strictest verdict counts", () => {
  const options = { rules: rules("allow write a", "deny write b") };
  assert.equal(check(options, write("a"), write("b")).effect, "deny");
  assert.equal(check(options, write("a"), write("c")).effect, "ask");
  for (const subjects of [
    [write("c"), write(".env")],
    [write(".env"), write("c")],
  ])
    assert.equal(check(options, ...subjects).always, true, "what is asked every time is stricter");
});

test("protected paths are asked about whatever is allowed, in any case of letters (N163-N165)", () => {
  for (const path of [".git/hooks/x", ".git/config", ".GIT/config", ".env", ".github/workflows/ci.yml"]) {
    const { effect, always } = check({ rules: rules("allow write **", "allow *") }, write(path));
    assert.deepEqual([effect, always], ["ask", true], path);
  }
});

test("what holds Parley's own rules and keys is never written (N166)", () => {
  const own = ["/nowhere/w/settings/parley"];
  for (const path of ["settings/parley/policy.json", "settings/parley"])
    assert.equal(check({ own, rules: rules("allow *") }, write(path)).effect, "deny", path);
  const beside = write("settings/parley-other/a");
  assert.equal(
    check({ own, rules: rules("allow *") }, beside).effect,
    "allow",
    "another folder is another folder",
  );
});

test("a command in the sandbox is allowed unless a rule says otherwise; a protected name is not asked about", () => {
  const subject: RuleSubject = { origin: "op", operation: "exec", argv: ["cat", ".env"], cwd: "/nowhere/w" };
  const held: RuleSubject = { ...subject, sandbox: "workspace" };
  const verdict = check({}, held);
  assert.deepEqual([verdict.effect, verdict.reason], ["allow", "commands in the sandbox are allowed"]);
  assert.equal(check({}, subject).always, true);
  assert.equal(check({ rules: rules("ask exec cat") }, held).effect, "ask");
  assert.equal(check({ rules: rules("deny read .env") }, held).effect, "deny");
  const leaving: RuleSubject = { ...subject, argv: ["ls"], leaves: true };
  const asked = check({ rules: rules("allow exec ls", "allow exec **") }, leaving);
  assert.deepEqual([asked.effect, asked.always], ["ask", true], "leaving it is asked every time");
});

test("a workspace can forbid and have asked, and cannot allow", () => {
  const workspaceRules = () => [from("workspace", "allow", "write a"), from("workspace", "deny", "read b")];
  assert.equal(check({ workspaceRules }, write("a")).effect, "ask");
  const { rule } = check({ workspaceRules, rules: rules("allow write a") }, write("a"));
  assert.equal(rule?.origin, "user", "nor hide what the user allows");
  assert.equal(check({ workspaceRules }, read("b")).effect, "deny");
});

test("remembered answers last as long as they say, and can be listed and taken back in another process", (t) => {
  const path = join(folder(t), "data/permissions.ndjson");
  let now = 1_000;
  const clock = () => now;
  const one = rememberedRules(path, clock);
  const other = rememberedRules(path, clock);
  const kept = one.add({
    operation: "write",
    pattern: "/nowhere/w/a",
    effect: "allow",
    scope: "always",
  });
  one.add({ operation: "read", pattern: "/x", effect: "deny", scope: "always", expires: 2_000 });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const options = { remembered: other, now: clock };
  assert.match(check(options, write("a")).reason, new RegExp(`remembered as ${kept.id}`));
  assert.equal(other.list().length, 2);
  now = 2_000;
  assert.deepEqual(
    other.list().map(({ id }) => id),
    [kept.id],
  );
  assert.equal(other.revoke(kept.id), true);
  assert.equal(other.revoke("nothing"), false);
  assert.deepEqual(one.list(), []);
  assert.equal(check(options, write("a")).effect, "ask");
});

test("answers for a workspace are for that directory, not for another one of its name", (t) => {
  const cwd = folder(t);
  const project = join(cwd, "project");
  mkdirSync(project);
  const place = { sessionId: "s", cwd: project, roots: [project] };
  const remembered = rememberedRules(join(cwd, "permissions.ndjson"));
  const subject: RuleSubject = { origin: "op", operation: "write", path: join(project, "a") };
  const identity = `${project}#${statSync(project).dev}:${statSync(project).ino}`;
  remembered.add({
    operation: "write",
    pattern: subject.path ?? "",
    effect: "allow",
    scope: "workspace",
    workspace: { path: project, identity },
  });
  assert.equal(permissionGate({ remembered }).check(place, [subject]).effect, "allow");
  renameSync(project, join(cwd, "old"));
  mkdirSync(project);
  assert.equal(permissionGate({ remembered }).check({ ...place }, [subject]).effect, "ask");
});

test("half a line that a killed process left hides no later answer, and a newer file is refused", (t) => {
  const path = join(folder(t), "permissions.ndjson");
  const remembered = rememberedRules(path);
  const deny = { operation: "exec", pattern: "rm", effect: "deny", scope: "always" } as const;
  remembered.add(deny);
  appendFileSync(path, '{"add":{"id":"x","eff');
  remembered.add({ ...deny, pattern: "dd" });
  assert.deepEqual(
    rememberedRules(path)
      .list()
      .map(({ pattern }) => pattern),
    ["rm", "dd"],
  );
  writeFileSync(path, readFileSync(path, "utf8").replace('"version":2', '"version":3'));
  assert.throws(() => rememberedRules(path).list(), RuleError);
  assert.throws(() => check({ remembered: rememberedRules(path) }, read("a")), /expected version 2, got 3/);
});

test("V10: allow net localhost is the whole network of this machine, and nothing smaller can be allowed", () => {
  for (const host of [
    "localhost:3000",
    "127.0.0.1",
    "127.0.0.1:80",
    "[::1]",
    "app.localhost",
    "*.localhost",
  ]) {
    assert.throws(
      () => rules(`allow net ${host}`),
      /net localhost means the whole network of this machine; a port or an address cannot be picked/,
    );
    assert.equal(rules(`deny net ${host}`).length, 1);
  }
  const net = (host: string): RuleSubject => ({ origin: "op", operation: "net", host });
  for (const host of ["localhost:3000", "127.0.0.1:80", "[::1]:80", "app.localhost"]) {
    assert.equal(check({ rules: rules("allow net localhost") }, net(host)).effect, "allow", host);
    assert.equal(check({ rules: rules("allow net", "deny net localhost") }, net(host)).effect, "deny", host);
    assert.equal(check({ rules: rules("allow net *") }, net(host)).effect, "ask", host);
  }
  for (const [host, effect] of [
    ["[::1]:80", "deny"],
    ["127.0.0.1", "deny"],
    ["127.0.0.1:8080", "ask"],
  ] as const) {
    const claim: RuleSubject = { ...net(host), origin: "claim" };
    assert.equal(check({ rules: rules("deny net localhost:80") }, claim).effect, effect, host);
  }
});

test("a rule about another host keeps this machine closed to commands, and check says so", () => {
  const net: RuleSubject = { origin: "op", operation: "net", host: "localhost:80" };
  for (const other of ["deny net evil.example", "ask net"]) {
    const given = { rules: rules("allow net localhost", other) };
    const { effect, reason } = check(given, net);
    assert.equal(effect, "deny");
    assert.match(reason, new RegExp(`keeps it closed to commands: ${other} `));
  }
  const given = { rules: rules("allow net localhost", "deny net evil.example") };
  assert.equal(check(given, { ...net, origin: "claim" }).effect, "allow", "an agent has its own network");
});
