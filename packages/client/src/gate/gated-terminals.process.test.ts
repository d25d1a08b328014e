import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { RequestError } from "@parley/acp";
import type { CreateTerminalOptions, TerminalSnapshot } from "@parley/acp/model";
import { auditLog, verifyAudit } from "@parley/client/audit";
import { commandSubject, type GateOptions, permissionGate } from "@parley/client/policy";
import { sandboxStatus } from "@parley/sandbox";
import { folder, rules } from "../../test/support/gate-probe.ts";
import type { PermissionQuestion } from "../policy.ts";

const sandbox = await sandboxStatus();
const posix = { skip: process.platform === "win32" ? "needs a POSIX shell" : false, timeout: 60_000 };

function terminalsOf(t: TestContext, cwd: string, options: GateOptions) {
  const { terminals } = permissionGate(options).services({ sessionId: "s", cwd, roots: [cwd] });
  t.after(() => terminals.close?.());
  return {
    async run(given: CreateTerminalOptions): Promise<TerminalSnapshot> {
      const terminal = await terminals.create(given);
      await terminal.waitForExit();
      return terminal.output();
    },
    async code(given: CreateTerminalOptions): Promise<number | string> {
      return terminals.create(given).then(
        async (terminal) => {
          await terminal.release();
          return "started";
        },
        (error: unknown) => (error instanceof RequestError ? error.code : String(error)),
      );
    },
  };
}

test(
  "a whole line in place of a program is given to a shell, where it is allowed (interop bug 18)",
  posix,
  async (t) => {
    const cwd = folder(t, { x: "", y: "" });
    const { run } = terminalsOf(t, cwd, { rules: rules("allow exec **") });
    assert.equal((await run({ command: "ls && ls y | head" })).output, "x\ny\ny\n");
    assert.equal((await run({ command: "echo a b" })).output, "a b\n");
  },
);

test(
  "a program whose path has blanks is that program, and one that is missing is said to be",
  posix,
  async (t) => {
    const cwd = folder(t);
    const program = join(cwd, "my tool");
    writeFileSync(program, "#!/bin/sh\necho tool\n");
    chmodSync(program, 0o755);
    const { run, code } = terminalsOf(t, cwd, { rules: rules("allow exec **") });
    assert.equal((await run({ command: program })).output, "tool\n");
    assert.equal(await code({ command: "no-such-program", args: ["x"] }), -32002);
  },
);

test("an allowed command is allowed with exactly its words, in a line or in a list", posix, async (t) => {
  const cwd = folder(t);
  const { code } = terminalsOf(t, cwd, { rules: rules("allow exec echo hi") });
  assert.equal(await code({ command: "echo", args: ["hi"] }), "started");
  assert.equal(await code({ command: "echo hi" }), "started");
  assert.equal(await code({ command: "/bin/sh", args: ["-c", "echo hi"] }), "started");
  for (const line of ["echo hi; id", "echo hi && id", "echo hi $(id)", "echo hi\nid", "echo hi > x"]) {
    assert.equal(await code({ command: line }), -32060, line);
    assert.equal(await code({ command: "sh", args: ["-c", line] }), -32060, line);
  }
});

test("the directory of a command must be below the roots (N142)", posix, async (t) => {
  const cwd = folder(t);
  const { code } = terminalsOf(t, cwd, { rules: rules("allow exec **") });
  assert.equal(await code({ command: "true", cwd: "/" }), -32061);
  assert.equal(await code({ command: "true", cwd: join(cwd, "..") }), -32061);
  assert.equal(await code({ command: "true", cwd }), "started");
});

test(
  "variables that are not harmless are shown with their values, and no rule for words answers for the person (N185)",
  posix,
  async (t) => {
    const cwd = folder(t);
    const questions: PermissionQuestion[] = [];
    const permission = (question: PermissionQuestion) => {
      questions.push(question);
      return "deny:once";
    };
    const { code, run } = terminalsOf(t, cwd, { asker: { permission }, rules: rules("allow exec env") });
    assert.equal(await code({ command: "env", env: { LD_PRELOAD: "/evil.so" } }), -32060);
    assert.deepEqual(questions[0]?.env, { LD_PRELOAD: "/evil.so" });
    assert.equal(await code({ command: "GREETING=hi env" }), -32060);
    assert.deepEqual(questions[1]?.env, { GREETING: "hi" });
    const { output } = await run({ command: "CI=1 env", env: { PAGER: "cat" } });
    assert.match(output, /^CI=1$/m);
    assert.match(output, /^PAGER=cat$/m);
    assert.equal(questions.length, 2);
  },
);

test("cd DIR && WORDS is done as those words in the directory that was decided about", posix, async (t) => {
  const cwd = folder(t, { "packages/a/x": "", "packages/b/y": "" });
  const { run, code } = terminalsOf(t, cwd, { rules: rules("allow exec (packages/a) ls") });
  assert.equal((await run({ command: "cd packages/a && ls" })).output, "x\n");
  assert.equal((await run({ command: "sh", args: ["-c", "cd packages/a && 'ls'"] })).output, "x\n");
  assert.equal((await run({ command: "ls", cwd: join(cwd, "packages/a") })).output, "x\n");
  assert.equal(await code({ command: "cd packages/b && ls" }), -32060);
  const every = terminalsOf(t, cwd, { rules: rules("allow exec **") });
  for (const command of [
    "cd packages/b && sh -c 'ls | cat'",
    "cd packages/b; ls",
    "cd packages && cd b && ls",
  ])
    assert.equal((await every.run({ command })).output, "y\n", command);
  assert.equal((await every.run({ command: "A=1 sh -c 'echo $A; ls packages'" })).output, "1\na\nb\n");
  assert.equal(await code({ command: "ls" }), -32060);
});

test("a line that is read as words is exactly those words to a shell (N197)", posix, () => {
  const bits = [..."ab1 \t'\"\\$`~=#%^*?[]{},!&|;<>()\n\r-@/é", "..", "A=", "x:~", "a=~", "''"];
  let seed = 7;
  const some = (count: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor(seed / 256) % count;
  };
  const cases: { line: string; words: readonly string[] }[] = [];
  while (cases.length < 2_000) {
    const rest = Array.from({ length: 1 + some(10) }, () => bits[some(bits.length)]).join("");
    const line = `printf '[%s]' ${rest}`;
    const { argv, shellLine } = commandSubject("op", line, undefined, "/");
    if (shellLine === undefined && argv !== undefined) cases.push({ line, words: argv.slice(2) });
  }
  const script = cases.map(({ line }) => `${line}\nprintf '\\0'`).join("\n");
  const shown = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" }).split("\0");
  for (const [at, { line, words }] of cases.entries())
    assert.equal(shown[at], words.length === 0 ? "[]" : words.map((word) => `[${word}]`).join(""), line);
});

test("V12: a script that is rewritten while its question is open is asked about again", posix, async (t) => {
  const cwd = folder(t, { "build.sh": "echo shown\n" });
  for (const command of ["sh build.sh", "./build.sh"]) {
    const script = join(cwd, "build.sh");
    writeFileSync(script, "#!/bin/sh\necho shown\n");
    chmodSync(script, 0o755);
    let asked = 0;
    const permission = () => {
      // the first time behind the back of the person
      if (++asked === 1) writeFileSync(script, "#!/bin/sh\necho other\n");
      return asked === 1 ? "allow:session" : "deny:once";
    };
    const { code } = terminalsOf(t, cwd, { asker: { permission } });
    const [program = "", ...args] = command.split(" ");
    assert.equal(await code({ command: program, args }), -32060, command);
    assert.equal(asked, 2, command);
  }
});

test("a line may be allowed for the session, exactly as it is, and never for longer", posix, async (t) => {
  const cwd = folder(t);
  const questions: PermissionQuestion[] = [];
  const permission = (question: PermissionQuestion) => {
    questions.push(question);
    return "allow:session";
  };
  const { code } = terminalsOf(t, cwd, { asker: { permission } });
  for (const command of ["true && true", "true && true", "true && false"])
    assert.equal(await code({ command }), "started");
  assert.deepEqual(
    questions.map(({ summary }) => summary.split(" (in")[0]),
    ["run true && true", "run true && false"],
  );
  assert.ok(questions[0]?.choices.every(({ scope }) => scope === "once" || scope === "session"));
});

test(
  "commands get the environment that was chosen for them, and never what is Parley's own (TH7)",
  posix,
  async (t) => {
    const cwd = folder(t);
    process.env["PARLEY_TEST_CANARY"] = "canary-ours";
    process.env["CANARY_OTHER"] = "canary-other";
    t.after(() => {
      delete process.env["PARLEY_TEST_CANARY"];
      delete process.env["CANARY_OTHER"];
    });
    const open = terminalsOf(t, cwd, { rules: rules("allow exec env") });
    const all = (await open.run({ command: "env", args: [] })).output;
    assert.ok(!all.includes("canary-ours"));
    assert.ok(all.includes("canary-other"));
    const chosen = terminalsOf(t, cwd, {
      rules: rules("allow exec env"),
      env: { PATH: process.env["PATH"] },
    });
    const few = (await chosen.run({ command: "env", args: [] })).output;
    assert.ok(!few.includes("canary"));
    assert.match(few, /^PATH=/m);
  },
);

test("the audit log has the command without the secrets in it", posix, async (t) => {
  const cwd = folder(t);
  const audit = auditLog(join(folder(t), "audit"));
  const { code } = terminalsOf(t, cwd, { audit, rules: rules("allow exec **") });
  await code({ command: "echo", args: ["--token", "hunter2hunter2"] });
  await code({ command: "echo PASSWORD=hunter2hunter2 && true" });
  audit.close();
  const { entries } = verifyAudit(audit.path);
  const targets = entries.flatMap(({ kind, target }) => (kind === "intent" ? [target] : []));
  assert.equal(targets.length, 2);
  for (const target of targets) {
    assert.match(target ?? "", /^echo /);
    assert.ok(!target?.includes("hunter2"), target);
  }
});

test("what a command created for other programs to obey is asked about in one question, and comes back if allowed", {
  ...posix,
  skip: sandbox.isAvailable ? posix.skip : "no sandbox can start",
}, async (t) => {
  for (const answer of ["allow:once", "deny:once"] as const) {
    const base = folder(t, { "my project/file": "" });
    const cwd = join(base, "my project");
    const questions: PermissionQuestion[] = [];
    const asked = Promise.withResolvers<void>();
    const told = Promise.withResolvers<string>();
    const permission = (question: PermissionQuestion) => {
      questions.push(question);
      if (question.subjects[0]?.operation === "write") asked.resolve();
      return question.subjects[0]?.operation === "write" ? answer : "allow:once";
    };
    const { run } = terminalsOf(t, cwd, {
      asker: { permission },
      sandbox: { profile: "workspace", tell: told.resolve },
    });
    await run({ command: "mkdir .vscode .idea; echo x >.vscode/tasks.json; echo x >.idea/x" });
    await asked.promise;
    const { subjects = [], reason = "" } = questions.at(-1) ?? {};
    assert.deepEqual(subjects.map(({ path }) => path).sort(), [join(cwd, ".idea"), join(cwd, ".vscode")]);
    assert.match(reason, /a command created this.*moves all of it back/);
    const isBack = () => existsSync(join(cwd, ".vscode/tasks.json")) && existsSync(join(cwd, ".idea/x"));
    while (answer === "allow:once" && !isBack()) await setImmediate();
    if (answer === "allow:once") continue;
    const notice = await told.promise;
    const [, line = ""] =
      /moved to .*my project\.moved-aside.*to accept them: (cp -R .*)$/.exec(notice) ?? [];
    assert.equal(isBack(), false);
    execFileSync("sh", ["-c", line]);
    assert.equal(isBack(), true);
  }
});
