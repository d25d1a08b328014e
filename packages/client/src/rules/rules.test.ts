import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { enforcementOf, parsePolicy, parseRule, permissionGate, ruleText } from "@parley/client/policy";
import { folder, rules } from "../../test/support/gate-probe.ts";
import { RuleError, type RuleSubject } from "../policy.ts";

const session = { sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] };

function effectOf(subject: Partial<RuleSubject>, ...texts: string[]): string {
  const whole: RuleSubject = { origin: "op", operation: "other", ...subject };
  return permissionGate({ rules: rules(...texts) }).check(session, [whole]).effect;
}

const write = (path: string): Partial<RuleSubject> => ({ operation: "write", path });

test("a pattern for a path means what it means in a .gitignore", () => {
  const cases: [string, string, boolean][] = [
    // a name, at any depth, and all below it
    ["src", "/nowhere/w/src", true],
    ["src", "/nowhere/w/src/deep/a.ts", true],
    ["src", "/nowhere/w/packages/a/src/b.ts", true],
    ["src/", "/nowhere/w/packages/a/src/b.ts", true],
    ["src", "/nowhere/w/src2/a.ts", false],
    ["*.md", "/nowhere/w/a/b/x.md", true],
    ["src", "/nowhere/other/src", false],
    // with a slash: from the roots on
    ["src/a", "/nowhere/w/src/a/b", true],
    ["src/a", "/nowhere/w/x/src/a", false],
    ["./package.json", "/nowhere/w/package.json", true],
    ["./package.json", "/nowhere/w/a/package.json", false],
    ["src/*.ts", "/nowhere/w/src/a.ts", true],
    ["src/*.ts", "/nowhere/w/src/deep/a.ts", false],
    ["src/**/*.ts", "/nowhere/w/src/deep/er/a.ts", true],
    ["src/**/*.ts", "/nowhere/w/src/a.ts", true],
    ["**/x", "/nowhere/w/a/b/x/y", true],
    ["**", "/nowhere/w/a", true],
    ["**", "/nowhere/other/a", false],
    // of the file system
    ["/nowhere/w/src/*.ts", "/nowhere/w/src/a.ts", true],
    ["/nowhere/**", "/nowhere/other/a", true],
    ["~/notes", join(homedir(), "notes/a"), true],
    // within a name
    ["a?c", "/nowhere/w/abc", true],
    ["a?c", "/nowhere/w/a/c", false],
    ["a[bd]c", "/nowhere/w/adc", true],
    ["a[b-d]c", "/nowhere/w/acc", true],
    ["a[!b]c", "/nowhere/w/abc", false],
    ["a[!b]c", "/nowhere/w/axc", true],
    ["a[]]c", "/nowhere/w/a]c", true],
    ["a\\*c", "/nowhere/w/abc", false],
    ["a\\*c", "/nowhere/w/a*c", true],
    ["app/\\[id\\]/page.ts", "/nowhere/w/app/[id]/page.ts", true],
    ["\\#a", "/nowhere/w/#a", true],
    ["my file.txt", "/nowhere/w/my file.txt", true],
    ["a.c", "/nowhere/w/abc", false],
    ["*a*a*a*a*a*a*a*a*a*a*b", `/nowhere/w/${"a".repeat(200)}`, false],
  ];
  for (const [pattern, path, isMatch] of cases)
    for (const effect of ["allow", "deny"])
      assert.equal(
        effectOf(write(path), `${effect} write ${pattern}`),
        isMatch ? effect : "ask",
        `${effect} ${pattern} ${path}`,
      );
});

test("a pattern that a repository brings cannot hold us up", () => {
  const started = performance.now();
  effectOf(write(`/nowhere/w/${"a/".repeat(500)}b`), `deny write ${"**/*a*/".repeat(50)}c`);
  assert.ok(performance.now() - started < 20_000);
});

test("V10: a pattern that cannot match, or would mean something else, is refused with what to write", () => {
  const wrong: [string, RegExp][] = [
    ["read {a,b}", /one rule for each/],
    ["read src/**.ts", /write \*\*\/\*\.ts/],
    ["read 'a b'", /needs no quotes/],
    ['read "a b"', /needs no quotes/],
    ["read $HOME/x", /write ~\//],
    ["read !a", /write a deny rule for the exception/],
    ["read ../a", /cannot contain \.\./],
    ["read a/../b", /cannot contain \.\./],
    ["read a # mine", /a line of its own/],
    ["read [ab", /is not closed/],
    ["read [b-a]", /the smaller character first/],
    ["read a\\", /escapes nothing/],
    ["read ~root/x", /write \\~/],
    ["exec 'git push'", /do not quote the whole command/],
    ["exec 'git push*'", /do not quote the whole command/],
    ["exec '*push*'", /do not quote the whole command/],
    ["exec git push*", /write WORDS \*\*/],
    ["exec *push*", /write WORDS \*\*/],
    ["exec git * push", /write WORDS \*\*/],
    ["exec git push *", /write git push \*\*;/],
    ["exec *", /\*\* /],
    ["exec ** x", /at the end/],
    ["exec rm # mine", /a line of its own/],
    ["exec a && b", /to allow every line, write exec \*\*; to deny or ask, write one rule for each/],
    ["exec cd a && b", /write exec \(DIR\) WORDS/],
    ["exec echo $HOME", /special meaning in a shell/],
    ["exec 'x", /is not closed/],
    ["exec (a", /brackets may only hold a directory/],
    ["exec (../a) ls", /cannot contain \.\./],
    ["exec A=1", /a command is missing/],
    ["net https://a/b", /without a scheme/],
    ["mcp github", /or SERVER\/\*/],
    ["* x", /takes no pattern/],
    ["delete a", /use write/],
    ["network a", /use net/],
    ["mode code", /use \*, which applies to everything/],
    ["rewrite a", /starts with one of read, write, exec, net, mcp, \*.*got "rewrite a"/],
    ["", /starts with one of read/],
  ];
  for (const effect of ["allow", "deny"] as const)
    for (const [text, message] of wrong)
      assert.throws(
        () => parseRule(text, { effect, origin: "user" }),
        (error) => error instanceof RuleError && message.test(error.message),
        `${effect} ${text}`,
      );
});

test("a comment stands on a line of its own, and no line is left out in silence", () => {
  const { rules: read } = parsePolicy(
    "# all\ndeny exec rm\rdeny read x\r\n  # no\u2028ask read y",
    "user",
    "f",
  );
  assert.equal(read.length, 3);
  assert.throws(() => parsePolicy("deny read x\u2028y", "user", "f"), RuleError);
  assert.throws(() => parsePolicy("deny read x # not that", "user", "f"), /f:1: .*a line of its own/);
});

test("hosts and tools are matched by name, with or without a port or a star", () => {
  const host = (name: string): Partial<RuleSubject> => ({ operation: "net", host: name });
  assert.equal(effectOf(host("example.org:443"), "allow net example.org"), "allow");
  assert.equal(effectOf(host("EXAMPLE.org."), "allow net example.org"), "allow");
  assert.equal(effectOf(host("a.example.org"), "allow net *.example.org"), "allow");
  assert.equal(effectOf(host("evilexample.org"), "allow net *.example.org"), "ask");
  assert.equal(effectOf(host("example.org"), "allow net example.org:443"), "ask");
  const tool: Partial<RuleSubject> = { operation: "mcp", tool: { server: "github", name: "get_issue" } };
  assert.equal(effectOf(tool, "allow mcp github/get_issue"), "allow");
  assert.equal(effectOf(tool, "allow mcp github/*"), "allow");
  assert.equal(effectOf(tool, "allow mcp git/*"), "ask");
  for (const rule of ["net", "net **", "net *"]) assert.equal(effectOf(host("a.b"), `deny ${rule}`), "deny");
  for (const rule of ["mcp", "mcp **"]) assert.equal(effectOf(tool, `deny ${rule}`), "deny");
});

test("only * is about modes, and about what no other word is about", () => {
  for (const subject of [{ operation: "mode", mode: "yolo" }, { operation: "other" }] as const) {
    assert.equal(effectOf(subject, "deny *"), "deny");
    assert.equal(effectOf(subject, "allow exec **", "allow write"), "ask");
  }
});

test("a rule means the same for what Parley does and for what an agent says that it does", () => {
  for (const origin of ["op", "claim"] as const)
    for (const where of ["user", "operator", "launch"] as const)
      for (const effect of ["allow", "ask", "deny"] as const) {
        const rule = parseRule("write a", { effect, origin: where });
        const subject: RuleSubject = { origin, operation: "write", path: "/nowhere/w/a" };
        assert.equal(permissionGate({ rules: [rule] }).check(session, [subject]).effect, effect);
        assert.equal(ruleText(rule), "write a");
      }
});

test("what only a label says is allowed by * and exec ** alone, and forbidden by what it says", () => {
  const label = (more: Partial<RuleSubject>): Partial<RuleSubject> => ({
    origin: "claim",
    labelOnly: true,
    ...more,
  });
  const command = label({ operation: "exec", argv: ["touch", "out.txt"], cwd: "/nowhere/w" });
  assert.equal(effectOf(command, "allow exec touch out.txt", "allow exec touch **"), "ask");
  assert.equal(effectOf(command, "allow exec **"), "allow");
  assert.equal(effectOf(command, "allow *"), "allow");
  assert.equal(effectOf(command, "allow *", "deny exec touch"), "deny");
  const edit = label({ operation: "write", path: "/nowhere/w/a" });
  assert.equal(effectOf(edit, "allow write", "allow exec **"), "ask");
  assert.equal(effectOf(edit, "allow *"), "allow");
  assert.equal(effectOf(edit, "deny write a"), "deny");
});

test("which rules the system holds in a sandbox is told, with the mounts that follow from them", () => {
  const told = enforcementOf(
    rules(
      "deny read secrets/**",
      "deny write ./package.json",
      "deny read /etc/x",
      "deny read *.key",
      "deny read .env",
      "deny net",
      "ask read a/b",
      "deny exec rm",
      "allow write a/b",
    ),
    ["/w", "/v"],
  ).map(({ rule, by, mounts }) => [
    ruleText(rule),
    by,
    mounts.map(({ path, access }) => `${access} ${path}`).join(" "),
  ]);
  assert.deepEqual(told, [
    ["read secrets/**", "system", "none /w/secrets none /v/secrets"],
    ["write ./package.json", "system", "read /w/package.json read /v/package.json"],
    ["read /etc/x", "system", "none /etc/x"],
    ["read *.key", "parley", ""],
    ["read .env", "parley", "none /w/.env none /v/.env"],
    ["net", "system", ""],
    ["read a/b", "parley", ""],
    ["exec rm", "parley", ""],
    ["write a/b", "parley", ""],
  ]);
});

test("a rule for a path that is written with a link means where it leads", (t) => {
  const cwd = folder(t, { "real/a": "1" });
  const place = { sessionId: "s", cwd, roots: [cwd] };
  const gate = permissionGate({ rules: rules("deny read real") });
  assert.equal(
    gate.check(place, [{ origin: "op", operation: "read", path: join(cwd, "real/a") }]).effect,
    "deny",
  );
});
