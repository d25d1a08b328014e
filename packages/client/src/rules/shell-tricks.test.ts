// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is code for shells

import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { commandSubject, permissionGate } from "@parley/client/policy";
import { hiddenCommands, hiddenNames, startedByOthers } from "../../test/security/shell-tricks.ts";
import { folder, rules } from "../../test/support/gate-probe.ts";

// How a line hides what it runs. The security tests show that each of these works in a shell.

function checked(t: TestContext, ...texts: string[]) {
  const cwd = folder(t, { canary: "", "secret.txt": "hush", "docs/a.md": "" });
  symlinkSync("..", join(cwd, "docs/link"));
  const gate = permissionGate({ rules: rules(...texts, "allow *") });
  return (line: string) =>
    gate.check({ sessionId: "s", cwd, roots: [cwd] }, [commandSubject("op", line, undefined, cwd)]).effect;
}

test("no line hides a forbidden command: it is refused, or asked about (V10)", (t) => {
  const check = checked(t, "deny exec rm");
  const allowed = [...hiddenCommands, ...startedByOthers].filter((line) => check(line) === "allow");
  assert.deepEqual(allowed, []);
});

test("no line hides the name of a forbidden file (V4)", (t) => {
  for (const pattern of ["secret.txt", "./secret.txt", "*.txt"]) {
    const check = checked(t, `deny read ${pattern}`);
    assert.deepEqual(
      hiddenNames.filter((line) => check(line) === "allow"),
      [],
      pattern,
    );
  }
});

test("words that only the shell knows are asked about where they may be the forbidden ones", (t) => {
  const check = checked(t, "deny exec git push");
  for (const line of ["P=push; git $P", "git $(echo push)", "git {push,x}", "git -c a=b p?sh"])
    assert.equal(check(line), "ask", line);
  for (const line of ["git log $BRANCH && true", 'git commit -m "$MESSAGE"', "git add *.ts"])
    assert.equal(check(line), "allow", line);
});

test("ordinary lines are read, not asked about", (t) => {
  const check = checked(t, "deny exec rm", "deny read secret.txt");
  for (const line of [
    "git commit -m \"$(cat <<'EOF'\nfix: a thing (with brackets) and `code`\n\nIt's done.\nEOF\n)\"",
    "cat > a.ts <<'EOF'\nconst a = `${b('x')}`;\nEOF\nnpx tsc",
    "cat > a.txt <<EOF\nhello $USER\nEOF",
    "npm test 2>&1 | tail -20",
    'for f in src/*.ts; do wc -l "$f"; done',
    'cd docs && ls -la && echo "done: $?"',
    "timeout 60 npm test | grep -v '^#' | xargs -I {} echo {}",
    "env CI=1 npm test; command -v node",
    "[ -f package.json ] && npm ci || true",
    "x=$(date +%s); echo $((x + 1))",
    'if [ -v CI ] && [[ $x -eq 0 ]]; then printf -v y "%s" "$x"; fi',
    'declare -a list=(1 2); read -r a b <<< "$x"; let n=n+1; ((n++)); unset a',
    'for f in $(git ls-files); do test -f "$f" || echo "$f"; done',
    "mapfile -t lines < a.txt; export PATH=$PATH:/opt/bin NODE_ENV=test",
    'git log --format=%s | while read -r line; do [ -n "$line" ] && echo "$line"; done',
    'f() { [ -f "$1" ] && wc -l "$1"; }; f a.txt; printf -v y \'%s\\n\' a',
    "PS1='$ ' PS4='+ ' bash -x run.sh",
    "gdb --version; xargs -n1 sh -c 'npm test' < a.txt",
    "set -euo pipefail; printf '%s\\n' 'use `code` and $(this)' | tee a.md",
  ])
    assert.equal(check(line), "allow", line);
});

test("lines that are hard to read cost little time", (t) => {
  const check = checked(t, "deny exec rm", "deny read secret.txt");
  const started = performance.now();
  for (const line of [
    `cat ${"*/*/*/*/* ".repeat(3_000)};`,
    "cat /*/*/*/*/*/*/*; true",
    `cat ${"{a,b}".repeat(5_000)};`,
    `cat ${"{a,b}{c,d}{e,f}{g,h} ".repeat(4_000)};`,
    `echo ${"${a".repeat(30_000)}`,
    "cat <<E\nE\n".repeat(9_000),
    `cat <<E\n${"$(a)".repeat(20_000)}\nE\n`,
    "env ".repeat(20_000),
    `cat /proc${"/a".repeat(40_000)}/cwd;`,
  ])
    check(line);
  assert.ok(performance.now() - started < 20_000);
});

test("letters that are written in two ways are the same for a rule", (t) => {
  const cwd = folder(t);
  const [composed, combined] = ["caf\u00e9", "cafe\u0301"];
  for (const pattern of [composed, combined])
    for (const name of [composed, combined]) {
      const gate = permissionGate({ rules: rules(`deny read ${pattern}`) });
      const subject = { origin: "op", operation: "read", path: join(cwd, name) } as const;
      assert.equal(gate.check({ sessionId: "s", cwd, roots: [cwd] }, [subject]).effect, "deny");
    }
});

test("a calculation that looks like a here-document does not hide the next line", (t) => {
  const check = checked(t, "deny exec rm");
  for (const line of [
    "echo $((1 << 2))\nrm x\n2))",
    "((x = 1 << rm))\nrm x\nrm",
    "echo ${a[1<<x]}\nrm y\nx]}",
  ])
    assert.notEqual(check(line), "allow", line);
});
