// `parley permissions`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { auditLog } from "@parley/client/audit";
import { trustedFolders, workspaceSettings } from "@parley/client/trust";
import { launcher } from "../../../acp/test/support/programs.ts";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { runInProcess } from "../../test/support/in-process.ts";

function place(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-permissions-")));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const home = join(base, "home");
  const cwd = join(base, "project");
  for (const folder of [home, cwd]) mkdirSync(folder);
  const environment = () => ({ ...process.env, PARLEY_HOME: home });
  const parley = (...args: string[]) => runInProcess(["permissions", ...args], { cwd, env: environment() });
  /** As a shell starts it. */
  const started = (...args: string[]) => {
    const options = { encoding: "utf8", cwd, env: environment(), input: "" } as const;
    const { status, stdout, stderr } = spawnSync(launcher, ["permissions", ...args], options);
    return { status, stdout, stderr };
  };
  const put = (path: string, text: string) => {
    mkdirSync(join(base, path, ".."), { recursive: true });
    writeFileSync(join(base, path), text);
  };
  // tests are alike with and without bubblewrap
  put("home/config/config.json", '{"client":{"sandbox":"off"}}');
  return { base, home, cwd, parley, started, put };
}

test("rules of all files are listed with whose they are, and check says which one fired", async (t) => {
  const { parley, started, put, home, cwd } = place(t);
  put(
    "home/config/policy",
    "# mine\nallow exec npm test\n# never\ndeny read **/*.key\ndeny read secrets/**\n",
  );
  put("project/.parley/policy", "ask write package.json\nallow exec rm **\nnonsense\n");
  assert.match(
    (await parley("list")).stdout,
    /^warning: 1 rule of \.parley\/policy ignored: you have not trusted/m,
  );
  assert.equal(started("check", "--allow", "write package.json", "write", "package.json").status, 0);
  trustedFolders(join(home, "state/trust")).trust(workspaceSettings(cwd));
  const { status, stdout } = started("list");
  assert.equal(status, 0);
  assert.match(stdout, /^allow {2}exec npm test {7}\(.*config\/policy:2\)$/m);
  assert.match(stdout, /^ask {4}write package\.json {2}\(.*\.parley\/policy:1, enforced by Parley\)$/m);
  assert.match(stdout, /^deny {3}read secrets\/\*\* .*, enforced by the system in a sandbox\)$/m);
  assert.match(
    stdout,
    /^warning: .*policy:2: a workspace can only deny and ask; its allow rules are ignored$/m,
  );
  assert.match(
    stdout,
    /^warning: .*policy:3: expected a line that starts with allow, ask or deny; got "nonsense"$/m,
  );
  assert.ok(stdout.includes(join(home, "config/policy")));
  const allowed = await parley("check", "exec", "npm", "test");
  assert.deepEqual([allowed.status, allowed.stdout.split(" (")[0]], [0, "allow: allow exec npm test"]);
  assert.equal((await parley("check", "exec", "--", "rm", "-r", "x")).status, 4);
  assert.equal(started("check", "read", "a.key").status, 3);
  assert.equal((await parley("check", "write", "package.json")).status, 4);
  assert.equal((await parley("check", "exec", "--allow", "exec make **", "make", "all")).status, 0);
  const { data } = JSON.parse((await parley("check", "--json", "read", "a.key")).stdout);
  assert.deepEqual([data.effect, data.rule.rule, data.rule.origin], ["deny", "read **/*.key", "user"]);
  assert.deepEqual([data.rule.enforcedBy, data.claim.effect], ["parley", "deny"]);
  assert.match(
    (await parley("check", "read", "secrets/a")).stdout,
    /^deny: .*; enforced by the system in a sandbox$/m,
  );
});

test("a rule is remembered for a workspace, listed, and taken back", async (t) => {
  const { parley, started } = place(t);
  const added = JSON.parse(started("add", "--json", "allow", "write", "docs/**", "--for", "12h").stdout).data;
  assert.equal(added.scope, "workspace");
  assert.ok(Date.parse(added.expires) - Date.now() < 12 * 3_600_000 + 60_000);
  assert.equal((await parley("check", "write", "docs/a.md")).status, 0);
  assert.equal((await parley("check", "--cwd", "..", "write", "docs/a.md")).status, 4, "another directory");
  assert.ok((await parley("list")).stdout.includes(`id ${added.id}`));
  assert.match(
    (await parley("list", "--cwd", "..")).stdout,
    new RegExp(`^No rules apply here: .*\\nOnly in other directories:\\n.*id ${added.id}`),
  );
  const elsewhere = JSON.parse((await parley("list", "--cwd", "..", "--json")).stdout).data.rules;
  assert.deepEqual(
    elsewhere.map(({ id, appliesHere }: { id: string; appliesHere: boolean }) => [id, appliesHere]),
    [[added.id, false]],
  );
  assert.equal(started("revoke", added.id).status, 0);
  assert.equal((await parley("check", "write", "docs/a.md")).status, 4);
  const again = await parley("revoke", added.id);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /unknown rule id:/);
});

test("check says that a command would run in the sandbox, where one can start", inSandbox, async (t) => {
  const { parley } = place(t);
  const held = await parley("check", "--sandbox", "workspace", "exec", "make", "all");
  assert.equal(held.status, 0);
  assert.match(
    held.stdout,
    /^allow: commands in the sandbox are allowed\nif the agent does it itself: ask: /,
  );
  assert.equal(
    (await parley("check", "--sandbox", "workspace", "--ask", "exec make", "exec", "make", "all")).status,
    4,
  );
});

test("this machine is a host that only a rule with its name allows", async (t) => {
  const { parley } = place(t);
  assert.equal((await parley("check", "--allow", "net", "net", "example.org")).status, 0);
  const asked = await parley("check", "--allow", "net", "--allow", "net *:80", "net", "localhost:80");
  assert.equal(asked.status, 4);
  assert.match(asked.stdout, /localhost:80 is this machine, and its services may trust any local program/);
  assert.equal((await parley("check", "--allow", "net localhost", "net", "localhost:80")).status, 0);
  assert.equal((await parley("check", "--deny", "net", "net", "127.0.0.1:80")).status, 3);
});

test("what stands behind the command belongs to the command, whatever it looks like", async (t) => {
  const { parley, cwd } = place(t);
  const allowed = async (rule: string, ...words: string[]) =>
    (await parley("check", "-C", cwd, "--allow", `exec ${rule}`, "exec", ...words)).status === 0;
  assert.ok(await allowed("git log -1", "git", "log", "-1"));
  assert.ok(await allowed("npm test --json --help -C x", "npm", "test", "--json", "--help", "-C", "x"));
  assert.ok(!(await allowed("git log", "git", "log", "-1")));
  assert.equal((await parley("check", "exec", "--ask", "exec ls", "ls", "-l")).status, 4);
  assert.equal((await parley("check", "exec", "--", "ls", "--allow", "exec **")).status, 4);
  assert.equal(
    (await parley("check", "write", "a", "--allow", "write a")).status,
    0,
    "a path has no options",
  );
  assert.equal((await parley("add", "allow", "exec", "echo", "a b")).status, 0);
  assert.equal((await parley("check", "exec", "echo", "a b")).status, 0);
  assert.equal((await parley("check", "exec", "echo", "a", "b")).status, 4);
  assert.match((await parley("check", "exec", "ls", "--json")).stdout, /^ask: /);
});

const isRoot = process.getuid?.() === 0;

test("for root nobody can allow everything, unless the machine is said to be a sandbox", {
  skip: isRoot ? false : "needs root",
}, async (t) => {
  const { parley, put } = place(t);
  const { status, stderr } = await parley("check", "--allow", "*", "write", "a");
  assert.equal(status, 2);
  assert.match(stderr, /allow \* \(--allow\) is refused for root.*\n.*PARLEY_SANDBOX=1/);
  process.env["PARLEY_SANDBOX"] = "1";
  t.after(() => delete process.env["PARLEY_SANDBOX"]);
  assert.equal((await parley("check", "--allow", "*", "write", "a")).status, 0);
  assert.equal((await parley("add", "allow", "*")).status, 0);
  delete process.env["PARLEY_SANDBOX"];
  assert.equal((await parley("check", "--deny", "*", "write", "a")).status, 2);
  assert.match((await parley("add", "allow", "*")).stderr, /allow \* is refused for root/);
  assert.match(
    (await parley("check", "write", "a")).stderr,
    /allow \* \(remembered as \w+\) is refused for root/,
  );
  assert.equal((await parley("revoke", "--all")).status, 0);
  put("home/config/policy", "allow *\n");
  assert.match(
    (await parley("check", "write", "a")).stderr,
    /allow \* \(.*config\/policy:1\) is refused for root/,
  );
});

test("a rule for an hour says until which minute, one for a directory says where and not everywhere", async (t) => {
  const { parley, cwd } = place(t);
  const { stdout } = await parley("add", "allow", "exec", "npm test", "--scope", "always", "--for", "1h");
  assert.match(stdout, /, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\)/);
  await parley("add", "allow", "read", "docs/**", "--scope", "always");
  const lines = (await parley("list")).stdout.split("\n").filter((line) => line.startsWith("allow"));
  assert.equal(new Set(lines.map((line) => line.indexOf("  ("))).size, 1, lines.join("\n"));
  assert.ok(!lines.some((line) => line.includes("everywhere") && line.includes(cwd)), lines.join("\n"));
});

test("what cannot be meant is a usage error that says what was wanted", async (t) => {
  const { parley, put } = place(t);
  const wrong: [string[], RegExp][] = [
    [["add"], /expected a rule/],
    [["add", "permit", "read", "x"], /expected allow, ask or deny, got "permit"/],
    [["add", "allow", "rewrite", "x"], /expected a rule that starts with one of read, write/],
    [
      ["add", "allow", "write", "x", "--scope", "always"],
      /--scope always accepts only reads and exact commands/,
    ],
    [
      ["add", "allow", "exec", "npm **", "--scope", "always"],
      /--scope always accepts only reads and exact commands/,
    ],
    [["add", "allow", "read", "x", "--for", "soon"], /--for: expected a time/],
    [["check", "paint", "x"], /expected one of read, write.*got paint/],
    [["check", "paint"], /expected one of read, write.*got paint/],
    [["check", "exec"], /exec needs a target, for example: parley permissions check exec npm test/],
    [["check"], /expected an operation/],
    [["revoke"], /expected the id of a rule/],
    [["check", "read", "x", "--policy", "nothing"], /file not found: nothing/],
  ];
  for (const [args, message] of wrong) {
    const { status, stderr } = await parley(...args);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, message);
  }
  // a rule that is left out might have been one that forbids
  put("home/config/policy", "deny exce rm\n");
  const { status, stderr } = await parley("check", "read", "x");
  assert.equal(status, 2);
  assert.match(stderr, /config\/policy:1: expected a rule that starts with/);
});

test("the log says what was done, and verify finds what was changed", async (t) => {
  const { parley, started, home } = place(t);
  assert.match(started("log").stdout, /No decisions yet/);
  const folder = join(home, "state/audit");
  const log = auditLog(folder);
  const base = {
    sessionId: "s",
    agent: "probe",
    origin: "op",
    by: "rule",
    reason: "allow write (your policy)",
  };
  const of = log.write({ ...base, kind: "intent", operation: "write", target: "/w/a", effect: "allow" });
  log.write({ kind: "outcome", of, result: "done" });
  log.write({ ...base, kind: "refused", operation: "exec", target: "rm x\n\u001b[2J", effect: "deny" });
  log.write({ ...base, kind: "intent", operation: "write", target: "/w/b", effect: "allow" });
  const left = { ...base, operation: "exec", target: "make", effect: "allow", sandbox: "left" };
  const made = log.write({ ...left, kind: "intent" });
  for (const result of ["done", "exit code 3"]) log.write({ kind: "outcome", of: made, result });
  log.close();
  const { stdout } = await parley("log");
  assert.match(stdout, /probe {2}allow {6}write \/w\/a {2}\(allow write \(your policy\), done\)/);
  assert.match(stdout, /deny {7}exec rm x\\u000a\\u001b\[2J/);
  assert.match(stdout, /write \/w\/b {2}\(.*, unknown\)/);
  assert.match(stdout, /exec make {2}\(.*, outside the sandbox, exit code 3\)/);
  assert.equal((await parley("log", "--refused")).stdout.trim().split("\n").length, 1);
  const whole = started("verify");
  assert.equal(whole.status, 0);
  assert.match(whole.stdout, /1 entries have an unknown outcome\n1 logs, 8 entries, 0 changed/);
  const path = log.path;
  writeFileSync(path, readFileSync(path, "utf8").replace("/w/a", "/w/c"));
  const changed = started("verify", "--json");
  assert.equal(changed.status, 1);
  assert.match(JSON.parse(changed.stdout).data.logs[0].problem, /^line 2 is not as it was written$/);
  const told = await parley("log");
  assert.equal(told.status, 1);
  assert.match(told.stdout, /: CHANGED: line 2 is not as/);
});

test("verify tells a process that was killed from a log that was cut or is missing, and fails for the latter", async (t) => {
  const { parley, home } = place(t);
  const folder = join(home, "state/audit");
  const program = `
    import { auditLog } from "@parley/client/audit";
    const log = auditLog(process.argv[1]);
    for (const target of ["/w/a", "/w/b"]) log.write({ kind: "intent", operation: "write", target, effect: "allow" });
    process.kill(process.pid, "SIGKILL");
  `;
  const args = ["--conditions=parley-source", "--input-type=module", "-e", program, folder];
  spawnSync(process.execPath, args, { cwd: import.meta.dirname });
  const killed = await parley("verify");
  assert.equal(killed.status, 0);
  assert.match(killed.stdout, /: has no end: its process was killed\n.*2 entries have an unknown outcome/);
  assert.match(killed.stdout, /1 logs, 2 entries, 0 changed, 0 missing/);
  const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".ndjson"));
  const path = join(folder, name);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, `${text.split("\n").slice(0, 2).join("\n")}\n`);
  const cut = await parley("verify");
  assert.equal(cut.status, 1);
  assert.match(cut.stdout, /CHANGED: lines were cut off/);
  writeFileSync(path, text);
  const log = auditLog(folder);
  log.write({ kind: "refused" });
  assert.match((await parley("verify")).stdout, /: has no end: its process is running/);
  log.close();
  rmSync(path);
  const gone = await parley("verify", "--json");
  assert.equal(gone.status, 1);
  assert.deepEqual(JSON.parse(gone.stdout).data.missing, [name]);
  assert.match((await parley("verify")).stdout, /: MISSING: it came before .*\.ndjson\n/);
});

test("check says no to what lies outside the workspace, as the operation would", async (t) => {
  const { base, parley, put } = place(t);
  put("beside/a.txt", "");
  for (const path of ["/etc/passwd", "/", "..", "../beside/a.txt", join(base, "beside", "a.txt")]) {
    for (const operation of ["read", "write"]) {
      const { status, stdout } = await parley("check", operation, path, "--allow", operation);
      assert.deepEqual([path, status], [path, 3], stdout);
      assert.match(stdout, /outside the workspace/);
    }
  }
  symlinkSync("../beside", join(base, "project", "link"));
  assert.equal((await parley("check", "read", "link/a.txt")).status, 3);
  assert.equal((await parley("check", "read", "../beside/a.txt", "--add-dir", "../beside")).status, 0);
  assert.equal((await parley("check", "read", "..a.txt")).status, 0);
  const { stdout } = await parley("check", "read", "a.txt");
  assert.match(stdout, /^allow: reading in the workspace is allowed\nif the agent does it itself: ask: /);
});

test("the directory that is too wide is named, and is no reason to ask about others", async (t) => {
  const { parley } = place(t);
  const wide = await parley("check", "read", "/etc/hostname", "--add-dir", "/etc");
  assert.equal(wide.status, 4);
  assert.match(wide.stdout, /^ask: the workspace \/etc is too broad/);
  assert.equal((await parley("check", "read", "a.txt", "--add-dir", "/etc")).status, 0);
});
