// The parley command through its launcher, as a shell starts it.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { launcher, sourceLauncher } from "../../acp/test/support/programs.ts";
import { runInProcess } from "../test/support/in-process.ts";

const temporary = mkdtempSync(join(tmpdir(), "parley launcher "));
after(() => rmSync(temporary, { recursive: true, force: true }));

function started(
  args: readonly string[],
  options: { command?: string; cwd?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const { status, stdout, stderr } = spawnSync(options.command ?? launcher, args, {
    encoding: "utf8",
    cwd: options.cwd ?? temporary,
    env: { ...process.env, PARLEY_HOME: join(temporary, "home"), ...options.env },
    input: "",
  });
  return { status, stdout, stderr };
}

/** In this process. */
async function parley(args: readonly string[]) {
  const env = { ...process.env, PARLEY_HOME: join(temporary, "home") };
  const { status, stdout, stderr } = await runInProcess(args, { cwd: temporary, env });
  return { status, stdout, stderr };
}

test("an unknown command exits with 2 and says what was meant, not all that there is", async () => {
  for (const [typed, meant] of [
    [["dem"], /did you mean: parley demo;/],
    [["rnu"], /did you mean: parley run;/],
    [["session", "list"], /did you mean: parley sessions list;/],
    [
      ["agents", "chekc"],
      /unknown command agents chekc; expected one of list, check, .*\nparley: did you mean: parley agents check\n/,
    ],
    [["--hlep"], /unknown option --hlep\nparley: did you mean: parley --help\n/],
    [["help", "trace", "shwo"], /did you mean: parley trace show\n/],
    [["cluade"], /unknown command cluade\nparley: did you mean: parley claude;/],
    [["--contineu"], /unknown option --contineu\nparley: did you mean: parley --continue\n/],
    [["fix", "the", "bug"], /unknown command fix\nparley: quote a prompt: parley "fix the bug";/],
    [
      ["zzzz"],
      /^parley: unknown command zzzz\nparley: for a prompt of one word: parley chat zzzz; parley --help lists all commands\n$/,
    ],
  ] as const) {
    const { status, stdout, stderr } = await parley(typed);
    assert.deepEqual([status, stdout], [2, ""], typed.join(" "));
    assert.match(stderr, meant);
    assert.ok(stderr.length < 200, stderr);
  }
});

test("login prints the two commands that log in", async () => {
  const { status, stdout } = await parley(["login"]);
  assert.equal(status, 0);
  assert.match(stdout, /^parley agents login claude {2,}\S.*\nparley agent login anthropic {2,}\S.*\n$/);
});

test("the options of chat, a prompt and an agent's name reach chat, which needs a terminal", async () => {
  for (const typed of [["-c"], ["--agent", "claude"], ["claude"], ["fix the bug"], ["resume"]]) {
    const { status, stderr } = await parley(typed);
    assert.deepEqual([status, /^parley: chat needs a terminal/.test(stderr)], [2, true], typed.join(" "));
  }
});

test("-p runs a prompt, and --plain talks through a pipe without the word chat", () => {
  const ran = started(["-p", "list", "--no-history"]);
  assert.deepEqual([ran.status, ran.stderr], [0, ""]);
  assert.match(started(["list ./", "--plain", "--no-history"]).stdout, /^> list \.\/\n/);
  const unknown = started(["resume", "no-such-session", "--plain"]);
  assert.match(unknown.stderr, /there is no session no-such-session\nparley: see parley sessions\n/);
});

test("half of a command's name exits with 2 and says which commands begin with it; its help lists them", async () => {
  const { status, stderr } = await parley(["trace"]);
  assert.equal(status, 2);
  assert.match(stderr, /trace needs a subcommand: trace show, trace redact, trace replay\n/);
  for (const argv of [
    ["trace", "--help"],
    ["help", "trace"],
  ]) {
    const help = await parley(argv);
    assert.deepEqual([help.status, help.stderr], [0, ""]);
    assert.match(help.stdout, /^usage: parley trace COMMAND/);
    assert.match(help.stdout, /^ {2}trace redact {2,}\S/m);
  }
});

test("agents, sessions, config and permissions alone list, with options too; their help lists the commands", async () => {
  for (const [name, wanted] of [
    ["agents", /^\* parley /],
    ["sessions", /^No sessions/],
    ["config", /^\{\}\n$/],
    ["permissions", /^No rules/],
  ] as const) {
    const { status, stdout } = await parley([name]);
    assert.deepEqual([status, wanted.test(stdout)], [0, true], stdout);
    assert.deepEqual(JSON.parse((await parley([name, "--json"])).stdout).v, 1);
    assert.match((await parley([name, "--help"])).stdout, new RegExp(`^usage: parley ${name} COMMAND`));
  }
  // an argument is still the name of a command
  assert.equal((await parley(["sessions", "lst"])).status, 2);
});

test("a misspelt agent is refused with the name that was meant", async () => {
  for (const args of [
    ["run", "--agent", "clude", "x"],
    ["agents", "check", "clude"],
    ["doctor", "-a", "clude"],
  ])
    assert.deepEqual(await parley(args), {
      status: 2,
      stdout: "",
      stderr: "parley: unknown agent clude\nparley: did you mean claude? parley agents lists all agents\n",
    });
});

test("an option without its value is told with what it wants, and nothing about the others", async () => {
  const negative = (await parley(["run", "--timeout", "-1", "hi"])).stderr;
  assert.match(
    negative,
    /run: --timeout needs a value, got -1, which looks like an option; .*--timeout=-1\n/,
  );
  assert.match(
    (await parley(["run", "hi", "--format"])).stderr,
    /run: --format needs a value: --format FORMAT\n/,
  );
  assert.match(
    (await parley(["run", "--formta", "x"])).stderr,
    /unknown option '--formta'\nparley: did you mean --format;/,
  );
  const xml = await parley(["run", "--json", "--format", "xml", "hi"]);
  assert.deepEqual([xml.status, /--format: expected text, json, quiet, got xml/.test(xml.stdout)], [2, true]);
});

test("an unknown option exits with 2 and names the command's help", () => {
  const { status, stderr } = started(["demo", "--sideways"]);
  assert.equal(status, 2);
  assert.match(stderr, /demo: unknown option '--sideways'; options: --json/);
  assert.match(stderr, /see parley help demo/);
});

test("with --json a mistake is one line of JSON on stdout", () => {
  const { status, stdout, stderr } = started(["nonsense", "--json"]);
  assert.equal(status, 2);
  assert.equal(stderr, "");
  const { v, error } = JSON.parse(stdout);
  assert.equal(v, 1);
  assert.equal(error.code, "usage");
});

test("help lists every command, and each has a page", async () => {
  const { status, stdout } = await parley([]);
  assert.equal(status, 0);
  assert.match(stdout, /^ {2}demo {2,}\S/m);
  assert.match((await parley(["help", "demo"])).stdout, /^usage: parley demo/m);
  assert.match((await parley(["demo", "--help"])).stdout, /^usage: parley demo/m);
});

test("help of a command that serves on stdio goes to stdout", () => {
  assert.match(started(["agent", "--help"]).stdout, /^usage: parley agent/m);
});

test("the launcher works through a chain of symlinks, from a folder with spaces", () => {
  const folder = join(temporary, "some folder");
  mkdirSync(folder);
  symlinkSync(sourceLauncher, join(folder, "first"));
  symlinkSync("first", join(folder, "second"));
  assert.match(started(["--version"], { command: join(folder, "second"), cwd: "/" }).stdout, /^parley \d/);
  assert.match(started(["--version"], { command: "./second", cwd: folder }).stdout, /^parley \d/);
});

test("a cache folder that cannot be made is no obstacle", () => {
  for (const home of ["/proc/nowhere", "/dev/null/x"]) {
    const env = { PARLEY_HOME: home, NODE_COMPILE_CACHE: undefined };
    // that of the tests has a cache elsewhere
    const { stdout } = started(["--version"], { env, command: sourceLauncher });
    assert.match(stdout, /^parley \d/, home);
  }
});

test("an installed parley refuses an old Node and says which one it needs", () => {
  const installed = join(temporary, "installed");
  mkdirSync(join(installed, "bin"), { recursive: true });
  mkdirSync(join(installed, "old"));
  // A link would lead back to the checkout, which has a Node of its own.
  copyFileSync(sourceLauncher, join(installed, "bin/parley"));
  writeFileSync(join(installed, "old/node"), "#!/bin/sh\necho v20.20.2\n");
  chmodSync(join(installed, "old/node"), 0o755);
  const env = { PATH: `${join(installed, "old")}:/usr/bin:/bin` };
  const { status, stderr } = started(["--version"], { command: join(installed, "bin/parley"), env });
  assert.equal(status, 1);
  assert.match(stderr, /needs Node 22\.18 or newer, got v20\.20\.2/);
});

test("what the machine does not let us do is told without a stack, and what to do", () => {
  writeFileSync(join(temporary, "a file"), "");
  const env = { PARLEY_HOME: join(temporary, "a file") };
  for (const typed of [
    ["config", "set", "agent.mode", "code"],
    ["permissions", "add", "deny", "read x"],
  ]) {
    const { status, stdout, stderr } = started(typed, { env });
    assert.deepEqual([status, stdout], [1, ""], typed.join(" "));
    assert.match(stderr, /^parley: cannot use \/.*a file\/.*: ENOTDIR\nparley: .*PARLEY_HOME.*\n$/);
  }
});

test("a history that is damaged or cannot be opened is told without a stack, and what to do", () => {
  const damaged = join(temporary, "damaged");
  mkdirSync(join(damaged, "data"), { recursive: true });
  writeFileSync(join(damaged, "data", "history.db"), "no database ".repeat(1_000));
  for (const home of [damaged, join(temporary, "a file")]) {
    for (const typed of [
      ["run", "--session", "x", "list"],
      ["run", "--continue", "list"],
      ["sessions", "list"],
    ]) {
      const { status, stderr } = started(typed, { env: { PARLEY_HOME: home, PARLEY_MODEL: "offline" } });
      assert.notEqual(status, 0, typed.join(" "));
      assert.match(stderr, /PARLEY_HOME/, typed.join(" "));
      assert.doesNotMatch(stderr, /^ {4}at /m);
    }
  }
});

test("a trace that cannot be written where it is wanted is not said to be missing", async () => {
  const trace = join(temporary, "t.trace");
  writeFileSync(trace, '{"parley":"trace","version":1}\n');
  const { status, stderr } = await parley([
    "trace",
    "redact",
    trace,
    "--out",
    join(temporary, "nowhere", "x"),
  ]);
  assert.equal(status, 1);
  assert.match(stderr, /cannot create .*nowhere\/x: its folder does not exist\n/);
});

test("output that cannot be written is told without a stack", { skip: !existsSync("/dev/full") }, () => {
  for (const typed of ["--help", "--version", "config path", "agents list --json"]) {
    const { status, stderr } = started(["-c", `"$0" ${typed} >/dev/full`, launcher], { command: "/bin/sh" });
    assert.equal(status, 1, typed);
    assert.match(stderr, /^parley: cannot write the output: ENOSPC.*\n$/);
  }
});

test("a home that is no absolute path is no place to keep anything", () => {
  const cwd = mkdtempSync(join(temporary, "project "));
  for (const HOME of ["", "relative"]) {
    const { status, stdout } = started(["config", "path"], { cwd, env: { HOME, PARLEY_HOME: "" } });
    assert.equal(status, 0);
    assert.match(stdout, /^\//, "an absolute path");
    assert.ok(!stdout.startsWith(cwd), stdout);
    assert.deepEqual(readdirSync(cwd), []);
  }
});

test("the version and the list of commands are found by whatever name people try", () => {
  for (const typed of ["version", "-v", "-V", "--version"])
    assert.match(started([typed]).stdout, /^parley \d+\.\d+\.\d+\n$/);
  for (const typed of [["help"], ["help", "help"], ["-h"]])
    assert.match(started(typed).stdout, /^usage: parley COMMAND/m);
  assert.match(started(["sessions", "--json", "list"]).stdout, /^\{"v":1,"data":\{"sessions":\[\]/);
});

test("every command exits quietly when nobody reads its output, as with head", async () => {
  const unread = (args: readonly string[]) => {
    const child = spawn(launcher, args, {
      cwd: temporary,
      env: { ...process.env, PARLEY_HOME: join(temporary, "home") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // closed before anything is written
    child.stdout.destroy();
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    return new Promise((resolve) => child.on("close", (status) => resolve({ args, status, stderr })));
  };
  for (const args of [
    ["completion", "bash"],
    ["doctor", "-a", "parley"],
    ["--help"],
    ["cli-page"],
    ["config", "check"],
  ])
    assert.deepEqual(await unread(args), { args, status: 141, stderr: "" });
});
