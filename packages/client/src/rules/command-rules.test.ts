// Rules for commands: exact where they allow, generous where they forbid.

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { commandSubject, permissionGate } from "@parley/client/policy";
import { folder, rules } from "../../test/support/gate-probe.ts";
import type { RuleSubject } from "../policy.ts";

const cwd = "/nowhere/w";
const session = { sessionId: "s", cwd, roots: [cwd] };

const run = (command: string, ...args: string[]) => commandSubject("op", command, args, cwd);
const line = (text: string) => commandSubject("op", text, undefined, cwd);

function verdictOn(subject: RuleSubject, ...texts: string[]) {
  return permissionGate({ rules: rules(...texts) }).check(session, [subject]);
}

const effectOf = (subject: RuleSubject, ...texts: string[]) => verdictOn(subject, ...texts).effect;

test("an allowed command is exactly these words", () => {
  const cases: [RuleSubject, string, boolean][] = [
    [run("npm", "test"), "npm test", true],
    [run("npm", "test", "x"), "npm test", false],
    [run("npm"), "npm test", false],
    [run("/tmp/evil/npm", "test"), "npm test", false],
    [run("./npm", "test"), "npm test", false],
    [run("echo", "a b"), "echo 'a b'", true],
    [run("echo", "a b"), 'echo "a b"', true],
    [run("echo", "a b"), "echo a\\ b", true],
    [run("echo", "a", "b"), "echo 'a b'", false],
    [run("echo", "*"), "echo '*'", true],
    [run("echo", "x"), "echo '*'", false],
    [run("./build.sh"), "./build.sh", true],
    [run("build.sh"), "./build.sh", false],
    [run("git", "reset", "HEAD~1"), "git reset HEAD~1", true],
    // words and then any
    [run("npm", "test"), "npm test **", true],
    [run("npm", "test", "--", "x"), "npm test **", true],
    [run("npm", "run", "x"), "npm test **", false],
    [run("git", "-c", "core.pager=evil", "log"), "git **", true],
  ];
  for (const [subject, rule, isAllowed] of cases)
    assert.equal(
      effectOf(subject, `allow exec ${rule}`),
      isAllowed ? "allow" : "ask",
      `${rule} ${JSON.stringify(subject.argv)}`,
    );
});

test("a line of simple words is the same as those words, also behind sh -c", () => {
  for (const subject of [
    line("npm test"),
    line("  npm   test "),
    line("npm 'test'"),
    run("/bin/bash", "-c", "npm test"),
  ])
    assert.equal(effectOf(subject, "allow exec npm test"), "allow", JSON.stringify(subject));
  for (const subject of [
    // a login shell reads ~/.profile first
    run("bash", "-lc", "npm test"),
    line("sh -lc 'npm test'"),
    run("bash", "--rcfile", "evil", "-ic", "npm test"),
    run("./sh", "-c", "npm test"),
    line("npm test; id"),
    line("npm test\nid"),
    line("npm test $(id)"),
    line('npm test "$(id)"'),
    line("npm test > x"),
    line("npm te{s,}t"),
    line("npm test # x"),
    line("npm test ~"),
  ])
    assert.equal(
      effectOf(subject, "allow exec npm test", "allow exec npm **"),
      "ask",
      JSON.stringify(subject),
    );
});

test("what a shell has to read is allowed by no rule with words, and by one that allows every line (N197)", () => {
  const subject = line("ls && rm -r x");
  assert.equal(effectOf(subject, "allow exec ls", "allow exec ls **", "allow exec rm **"), "ask");
  for (const rule of ["allow exec **", "allow exec", "allow *"])
    assert.equal(effectOf(subject, rule), "allow", rule);
  const tricks = [
    ["git", "-c", "core.pager=evil", "log"],
    ["find", ".", "-exec", "rm", "{}", ";"],
    ["sh", "-c", "a; b && c $(d)"],
  ];
  for (const [program = "", ...words] of tricks)
    assert.equal(
      effectOf(run(program, ...words), `allow exec ${program}`, "allow exec git log"),
      "ask",
      program,
    );
});

test("V1, V2: an allowed command is for the session's own directory, unless the rule names others", () => {
  const within = (directory: string, ...words: string[]): RuleSubject => ({
    ...run(words[0] ?? "", ...words.slice(1)),
    cwd: directory,
  });
  // the agent may write docs, and git and node obey what they find there
  const allowed = ["allow write docs/**", "allow exec git status", "allow exec node build.js"];
  for (const words of [
    ["git", "status"],
    ["node", "build.js"],
  ]) {
    assert.equal(effectOf(within(cwd, ...words), ...allowed), "allow");
    for (const directory of ["/nowhere/w/docs", "/nowhere/w/docs/x", "/nowhere", "/elsewhere"])
      assert.equal(effectOf(within(directory, ...words), ...allowed), "ask", directory);
  }
  const cases: [string, string, boolean][] = [
    ["(packages/*) npm test", "/nowhere/w/packages/a", true],
    ["(packages/*) npm test", "/nowhere/w/packages/a/docs", false],
    ["(packages/*) npm test", cwd, false],
    ["(packages/**) npm test", "/nowhere/w/packages/a/docs", true],
    ["(**) npm test", cwd, true],
    ["(**) npm test", "/nowhere/w/a/b", true],
    ["(**) npm test", "/elsewhere", false],
    ["(web) npm test", "/nowhere/w/apps/web", true],
    ["(/elsewhere) npm test", "/elsewhere", true],
    ["(a\\)b) npm **", "/nowhere/w/a)b", true],
  ];
  for (const [rule, directory, isAllowed] of cases)
    assert.equal(
      effectOf(within(directory, "npm", "test"), `allow exec ${rule}`),
      isAllowed ? "allow" : "ask",
      `${rule} in ${directory}`,
    );
});

test("cd DIR && WORDS is those words in that directory, found link by link", (t) => {
  const { root, check } = place(t);
  mkdirSync(join(root, "packages/a"), { recursive: true });
  mkdirSync(join(root, "docs/evil"), { recursive: true });
  symlinkSync("../../packages", join(root, "docs/evil/l"));
  symlinkSync("packages/a", join(root, "short"));
  const allowed = "allow exec (packages/a) npm test";
  for (const text of ["cd packages/a && npm test", "cd ./packages/a/ && npm test", "cd 'short' && npm test"])
    assert.equal(check(text, allowed), "allow", text);
  assert.equal(check("cd packages/a && npm test", "allow exec npm test"), "ask");
  assert.equal(check("cd docs && npm test", allowed), "ask");
  assert.equal(check("cd packages/a && npm test; id", allowed), "ask");
  assert.equal(check("cd packages/a; npm test", allowed), "ask");
  assert.equal(check("cd - && npm test", allowed), "ask");
  // a shell takes link/.. for the folder that the link is in
  assert.equal(check("cd docs/evil/l/.. && npm test", "allow exec (.) npm test"), "ask");
});

test("V5: an allowed command has no variables but harmless ones, or those that the rule names (N185)", () => {
  const make = (env: Record<string, string>) => commandSubject("op", "make", ["clean"], cwd, env);
  const rule = "allow exec make clean";
  for (const env of [
    { RM: "touch PWN #" },
    { RUSTFMT: "x" },
    { BIOME_BINARY: "x" },
    { GNUPGHOME: "x" },
    { GREETING: "x" },
    { LD_PRELOAD: "x" },
    { PAGER: "evil" },
    { CI: "$(x)" },
    { constructor: "x" },
  ] as Record<string, string>[])
    assert.equal(effectOf(make(env), rule), "ask", JSON.stringify(env));
  assert.equal(effectOf(make({ CI: "1", PAGER: "cat", NODE_ENV: "test" }), rule), "allow");
  assert.equal(effectOf(line("CI=1 make clean"), rule), "allow");
  assert.equal(effectOf(line("RM='touch PWN #' make clean"), rule), "ask");
  assert.equal(
    effectOf(line("CFLAGS='-O2 -g' make clean"), "allow exec CFLAGS='-O2 -g' make clean"),
    "allow",
  );
  assert.equal(effectOf(make({ CFLAGS: "-O2 -g" }), "allow exec CFLAGS='-O2 -g' make clean"), "allow");
  assert.equal(effectOf(make({ CFLAGS: "-O3" }), "allow exec CFLAGS='-O2 -g' make clean"), "ask");
  assert.equal(effectOf(make({}), "allow exec CFLAGS='-O2 -g' make clean"), "ask");
  assert.equal(effectOf(make({ RM: "x" }), "allow exec **"), "allow", "every line sets what it wants");
});

test("V10: a command that is forbidden is found with any further words, wherever it stands in a line", () => {
  const hidden = [
    run("rm", "-rf", "x"),
    run("/bin/rm", "x"),
    run("RM.EXE", "x"),
    run("sudo", "-u", "root", "rm", "x"),
    run("env", "A=1", "rm", "x"),
    run("xargs", "-n1", "rm"),
    run("timeout", "5", "nice", "rm", "x"),
    run("busybox", "rm", "x"),
    run("sh", "-c", "cd a && rm x"),
    run("sudo", "bash", "-c", "true; bash -c 'rm x'"),
    run("env", "-S", "rm x"),
    run("find", ".", "-exec", "rm", "{}", "+"),
    run("find", ".", "-execdir", "sh", "-c", "rm $0", "{}", ";"),
    line("trap 'rm x' EXIT"),
    run("sh", "-c", '"$@"', "_", "rm", "x"),
    line("true; FOO=1 rm x"),
    line("echo $(rm x)"),
    line('echo "now: $(rm x)"'),
    line("echo `rm x`"),
    line("diff <(rm x) y"),
    line("if true; then rm x; fi"),
    line("for f in a b; do rm $f; done"),
    line("f() { rm x; }; f"),
    line("function f { rm x; }"),
    line("(rm x)"),
    line("case a in a) rm x;; esac"),
    line("! rm x"),
    line("time -p rm x"),
    line(">/dev/null rm x"),
    line("2>&1 rm x"),
    line("true &>/dev/null; rm x"),
    line("r''m x"),
    line("r\\m x"),
    line("$'rm' x"),
    line("true\nrm x"),
    line("tru\\\ne; rm x"),
    line("eval 'rm x'"),
    line("bash <<EOF\nrm x\nEOF"),
    line("cat <<EOF\n$(rm x)\nEOF"),
    line("cat <<EOF; rm x\nabc\nEOF"),
    line("cat <<EOF\nabc\nEOF\nrm x"),
  ];
  for (const subject of hidden) {
    assert.equal(effectOf(subject, "deny exec rm", "allow *"), "deny", JSON.stringify(subject));
    assert.equal(effectOf(subject, "ask exec rm", "allow *"), "ask", JSON.stringify(subject));
  }
});

test("mentioning a forbidden command is allowed", () => {
  for (const subject of [
    run("echo", "rm"),
    run("git", "commit", "-m", "rm x; rm y"),
    line("git commit -m 'do; rm x' && true"),
    line("echo hi # rm x"),
    line("cat > x <<EOF\nrm y\nEOF"),
    line("grep 'rm x' < a | wc -l"),
    run("rmdir", "x"),
  ])
    assert.equal(effectOf(subject, "deny exec rm", "allow *"), "allow", JSON.stringify(subject));
});

test("further words of a rule that forbids must follow in order, with any options between them", () => {
  for (const words of ["push", "-C x push -f", "--no-pager push", "--git-dir=.git push origin"])
    assert.equal(effectOf(run("git", ...words.split(" ")), "deny exec git push", "allow *"), "deny", words);
  for (const words of ["commit -m push", "pull", "stash push"])
    assert.equal(effectOf(run("git", ...words.split(" ")), "deny exec git push", "allow *"), "allow", words);
  const force = "deny exec git push --force";
  assert.equal(effectOf(run("git", "push", "origin", "main", "--force"), force, "allow *"), "deny");
  assert.equal(effectOf(run("git", "push", "origin"), force, "allow *"), "allow");
  const there = "deny exec (docs) make";
  assert.equal(effectOf({ ...run("make"), cwd: "/nowhere/w/docs/x" }, there, "allow *"), "deny");
  assert.equal(effectOf(run("make"), there, "allow *"), "allow");
});

test("a line that cannot be taken apart is asked about, quickly, under any rule that forbids a command", () => {
  const started = performance.now();
  const odd = [
    line('echo "a; ls'),
    line("echo 'a; ls"),
    line("echo $(ls"),
    line(`echo ${"$(".repeat(50)}ls${")".repeat(50)}`),
    line(`echo ${"x ".repeat(100_000)}`),
    run("cat", ...Array.from({ length: 5_000 }, () => "x")),
  ];
  for (const subject of odd)
    for (const rule of ["deny exec rm", "ask exec rm"]) {
      const { effect, always } = verdictOn(subject, rule, "allow *");
      assert.deepEqual([effect, always], ["ask", true], JSON.stringify(subject).slice(0, 100));
    }
  for (const text of ["$X x", "/bin/r? x", "{rm,x}", "$(echo rm) x", "sh -c '$X'"]) {
    assert.equal(effectOf(line(text), "deny exec rm", "allow *"), "ask", text);
    assert.equal(effectOf(line(text), "allow *"), "allow", text);
  }
  effectOf(line(`bash ${"<<b\n".repeat(20_000)}`), "deny exec rm");
  assert.ok(performance.now() - started < 20_000);
});

function place(t: TestContext) {
  const root = folder(t);
  return {
    root,
    check: (text: string, ...texts: string[]) =>
      permissionGate({ rules: rules(...texts) }).check({ sessionId: "s", cwd: root, roots: [root] }, [
        commandSubject("op", text, undefined, root),
      ]).effect,
  };
}
