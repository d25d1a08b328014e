// What commands can do in each profile, what they leave behind, and how they end.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { openSandbox, SandboxError } from "@parley/sandbox";
import { inSandbox, withHosts } from "../test/support/required-sandbox.ts";
import { below, git, put, runIn, workplace } from "../test/support/workplace.ts";

test(
  "read-only keeps the workspace, but has a /tmp that the commands of a session share",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const sandbox = await open({ profile: "read-only" });
    const first = await runIn(sandbox, "echo x >file; echo kept >/tmp/note; cat file", { cwd: work });
    assert.match(first.stderr, /Read-only file system/);
    assert.equal(first.stdout, "old");
    assert.equal((await runIn(sandbox, "cat /tmp/note", { cwd: work })).stdout, "kept\n");
    const folder = sandbox.temporaryFolder ?? "";
    assert.ok(readdirSync(folder).includes("note"));
    await sandbox.close();
    assert.equal(existsSync(folder), false);
  },
);

test("strict hides home, but programs of PATH that are installed there start", inSandbox, async (t) => {
  const { home, work, open } = workplace(t);
  put(home, {
    ".tools/bin/hello": '#!/bin/sh\n. "$(dirname "$0")/../lib/words"\necho "$words"\n',
    ".tools/lib/words": "words=hello\n",
    "notes/private": "SECRET",
  });
  const env = { PATH: `${home}/.tools/bin:/usr/bin:/bin`, HOME: home };
  const sandbox = await open({ profile: "strict", env });
  const { stdout } = await runIn(
    sandbox,
    "sh ~/.tools/bin/hello; ls ~/notes ~/.config; echo x >file && cat file",
    {
      cwd: work,
      env,
    },
  );
  assert.equal(stdout, "hello\nx\n");
});

test("a workspace that is everything has bubblewrap in it, so no sandbox starts", inSandbox, async (t) => {
  const { open } = workplace(t);
  await assert.rejects(open({ roots: ["/"] }), { name: "SandboxError", problem: "in_workspace" });
});

test("the profile off starts the command as it is", inSandbox, async (t) => {
  const { work } = workplace(t);
  await using sandbox = await openSandbox({ roots: [work], profile: "off" });
  const { finished, keepMoved, ...run } = sandbox.wrap({
    command: "ls",
    args: ["-a"],
    cwd: work,
    env: { A: "1", B: undefined },
  });
  assert.deepEqual(run, { command: "ls", args: ["-a"], cwd: work, env: { A: "1" }, notMounted: [] });
  assert.deepEqual([finished().movedAside, keepMoved()], [[], []]);
});

test(
  "an agent writes to its state folder by atomic renames, and to nothing else of home",
  inSandbox,
  async (t) => {
    const { home, work, open } = workplace(t);
    const state = join(home, ".claude");
    const sandbox = await open({ profile: "agent", state: [state] });
    const script =
      "echo 1 >~/.claude/a.tmp && mv ~/.claude/a.tmp ~/.claude/a && echo x >~/.bashrc; cat ~/.ssh/id_ed25519; ls /proc/net/dev";
    const { stdout } = await runIn(sandbox, script, { cwd: work, env: { HOME: home } });
    assert.equal(stdout, "/proc/net/dev\n");
    assert.deepEqual(readdirSync(state), ["a"]);
  },
);

test("an agent that brings its own sandbox can start it inside ours", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  const sandbox = await open({ profile: "agent" });
  // the kernel does not let root mount a new /proc, because parts of ours are covered
  const proc = process.getuid?.() === 0 ? "" : "--proc /proc";
  const script = `bwrap --unshare-all --ro-bind / / --dev /dev ${proc} --bind "$PWD" "$PWD" sh -c 'echo inner >file; cat file'`;
  const { stdout, stderr } = await runIn(sandbox, script, { cwd: work });
  assert.deepEqual([stdout, stderr], ["inner\n", ""]);
});

test(
  "new hooks and settings are moved aside and named, and a new repository is only named",
  inSandbox,
  async (t) => {
    const { base, work, open } = workplace(t);
    const sandbox = await open({ readOnly: [join(work, "later")] });
    const script = `
    mkdir -p packages/a/.claude deep/er .github/workflows
    echo evil >packages/a/.claude/settings.json; echo evil >deep/er/.mcp.json; echo evil >.github/workflows/ci.yml
    echo evil >.git/commondir; echo evil >later; echo fine >deep/er/index.js
    git init -q cloned; echo hook >cloned/.git/hooks/post-checkout; mkdir cloned/.vscode
    git init -q packages/a; git init -q --bare bare`;
    const { stderr, findings } = await runIn(sandbox, script, { cwd: work });
    assert.equal(stderr, "");
    const inWork = (paths: readonly string[]) => paths.map((path) => path.slice(work.length + 1)).sort();
    assert.deepEqual(inWork(findings.movedAside.map(({ from }) => from)), [
      ".git/commondir",
      ".github",
      "deep/er/.mcp.json",
      "later",
      "packages/a/.claude",
    ]);
    assert.deepEqual(inWork(findings.created), ["bare", "cloned/.git", "cloned/.vscode", "packages/a/.git"]);
    assert.deepEqual([findings.left, findings.isIncomplete], [[], false]);
    for (const { from, to } of findings.movedAside) {
      assert.equal(existsSync(from), false, from);
      assert.ok(to.startsWith(join(base, "aside")) && existsSync(to), to);
    }
    assert.equal(existsSync(join(work, "deep/er/index.js")), true);
    // the next command does not find them again
    assert.deepEqual((await runIn(sandbox, "true", { cwd: work })).findings.created, []);
  },
);

test(
  "settings that the user allowed meanwhile stay, and those of an agent are only named",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const command = { command: "true", cwd: work, env: process.env };
    const sandbox = await open();
    const run = sandbox.wrap(command);
    put(work, { ".github/workflows/ci.yml": "", ".mcp.json": "", ".idea/x.xml": "" });
    sandbox.accept(join(work, ".github/workflows/ci.yml"), "");
    sandbox.accept(join(work, ".mcp.json"), "");
    const { movedAside } = run.finished();
    assert.deepEqual(
      movedAside.map(({ from }) => from),
      [join(work, ".idea")],
    );
    // only for the commands that ran then
    rmSync(join(work, ".mcp.json"));
    const later = sandbox.wrap(command);
    put(work, { ".mcp.json": "" });
    assert.deepEqual(
      later.finished().movedAside.map(({ from }) => from),
      [join(work, ".mcp.json")],
    );
    const running = (await open({ profile: "agent" })).wrap(command);
    put(work, { ".zed/settings.json": "" });
    const found = running.finished();
    assert.deepEqual([found.movedAside, found.left.map(({ path }) => path)], [[], [join(work, ".zed")]]);
  },
);

test("what a command makes of a file that the user allowed meanwhile does not stay", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  const sandbox = await open();
  const run = sandbox.wrap({ command: "true", cwd: work, env: process.env });
  sandbox.accept(join(work, ".vscode/settings.json"), "allowed");
  sandbox.accept(join(work, "index.js"), "allowed");
  put(work, { ".vscode/settings.json": "evil", ".vscode/tasks.json": "evil", "index.js": "formatted" });
  const { movedAside, left } = run.finished();
  assert.deepEqual(movedAside.map(({ from }) => from).sort(), [
    join(work, ".vscode/settings.json"),
    join(work, ".vscode/tasks.json"),
  ]);
  assert.deepEqual(left, []);
  assert.equal(readFileSync(join(work, ".vscode/settings.json"), "utf8"), "allowed");
  assert.equal(existsSync(join(work, ".vscode/tasks.json")), false);
  assert.equal(readFileSync(join(work, "index.js"), "utf8"), "formatted");
});

test(
  "a protected file that is replaced outside while a command runs is named: its mount is gone",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const sandbox = await open();
    const run = sandbox.wrap({ command: "true", cwd: work, env: process.env });
    git(work, "config", "remote.origin.url", "https://example.org/x");
    const { movedAside, left } = run.finished();
    assert.deepEqual([movedAside, left.map(({ path }) => path)], [[], [join(work, ".git/config")]]);
    assert.match(left[0]?.reason ?? "", /^it was replaced while the command ran/);
    const next = sandbox.wrap({ command: "true", cwd: work, env: process.env });
    assert.deepEqual(next.finished().left, []);
  },
);

test("a file that the config of git includes is protected like the config", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  put(work, { "settings/git.inc": "kept" });
  git(work, "config", "include.path", "../settings/git.inc");
  const { stdout } = await runIn(await open(), "echo x >settings/git.inc || mv settings s2 || echo held", {
    cwd: work,
  });
  assert.equal(stdout, "held\n");
  assert.equal(readFileSync(join(work, "settings/git.inc"), "utf8"), "kept");
});

test(
  "a link that a repository brings along shows no secret, and is still a link afterwards",
  inSandbox,
  async (t) => {
    const { home, work, open } = workplace(t);
    put(work, { "shared/settings.json": "kept" });
    symlinkSync(join(home, ".ssh"), join(work, ".vscode"));
    symlinkSync("shared", join(work, ".cursor"));
    symlinkSync(join(home, ".ssh"), join(work, "docs"));
    const sandbox = await open({ write: [join(work, "docs")], readOnly: [join(home, ".ssh")] });
    const script = `
    cat .vscode/id_ed25519 docs/id_ed25519 ${home}/.ssh/id_ed25519; echo x >shared/settings.json
    rm .cursor; mkdir .cursor; echo evil >.cursor/mcp.json`;
    const { stdout, findings } = await runIn(sandbox, script, { cwd: work });
    assert.equal(stdout, "");
    assert.deepEqual(
      findings.movedAside.map(({ from }) => from),
      [join(work, ".cursor")],
    );
    assert.equal(readFileSync(join(work, ".cursor/settings.json"), "utf8"), "kept");
  },
);

test(
  "what a command does to the environment changes nothing outside, and hides and shows nothing",
  inSandbox,
  async (t) => {
    const { base, home, work, open } = workplace(t);
    const sandbox = await open({ profile: "strict" });
    // the loader of bubblewrap itself would write these files
    const hostile = {
      LD_DEBUG: "libs",
      LD_DEBUG_OUTPUT: join(base, "outside/loaded"),
      PATH: `/usr/bin:/bin:${home}/.ssh/bin:${home}/.ssh`,
      HOME: "/nonexistent",
      XDG_CONFIG_HOME: "/nonexistent",
    };
    const { code, stdout } = await runIn(sandbox, `cat ${home}/.ssh/id_ed25519; echo $LD_DEBUG`, {
      cwd: work,
      env: hostile,
    });
    assert.deepEqual([code, stdout.endsWith("\nlibs\n"), stdout.includes("SECRET")], [0, true, false]);
    assert.deepEqual(readdirSync(join(base, "outside")), ["file"]);
  },
);

test(
  "settings that appear while a command runs are not mounted for the next, which could be raced",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const sandbox = await open();
    const first = sandbox.wrap({ command: "true", cwd: work, env: process.env });
    put(work, { "fresh/.vscode/settings.json": "" });
    const path = join(work, "fresh/.vscode");
    const wrap = () => sandbox.wrap({ command: "true", cwd: work, env: process.env });
    const second = wrap();
    assert.deepEqual([second.args.includes(path), second.notMounted.includes(path)], [false, true]);
    assert.ok(second.args.includes(join(work, ".claude")));
    second.finished();
    assert.deepEqual(
      first.finished().movedAside.map(({ from }) => from),
      [path],
    );
    put(work, { "fresh/.vscode/settings.json": "" });
    assert.ok(wrap().args.includes(path));
  },
);

test("a command of another process counts too, as long as that process lives", inSandbox, async (t) => {
  const { base, home, work, open } = workplace(t);
  const program = `
    import { openSandbox } from "@parley/sandbox";
    const sandbox = await openSandbox({ roots: [${JSON.stringify(work)}], homeFolder: ${JSON.stringify(home)} });
    sandbox.wrap({ command: "true", cwd: "/", env: {} });
    console.log("ready");
    process.stdin.resume();`;
  const options = ["--conditions=parley-source", "--input-type=module", "--eval", program];
  const other = spawn(process.execPath, options, {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: import.meta.dirname,
    // it is killed, and leaves the folder of its sandbox
    env: { ...process.env, TMPDIR: base },
  });
  await once(other.stdout, "data");
  put(work, { "fresh/.vscode/settings.json": "" });
  const sandbox = await open();
  const isMounted = () => {
    const run = sandbox.wrap({ command: "true", cwd: work, env: process.env });
    run.finished();
    return run.args.includes(join(work, "fresh/.vscode"));
  };
  assert.equal(isMounted(), false);
  other.kill("SIGKILL");
  await once(other, "exit");
  assert.equal(isMounted(), true);
});

test("a protected path that does not exist leaves nothing behind", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  const before = below(work);
  const sandbox = await open({
    readOnly: [join(work, "none/such")],
    hide: [join(work, "nor/this")],
    write: ["/nowhere"],
  });
  const run = sandbox.wrap({ command: "true", cwd: work, env: process.env });
  assert.ok(run.notMounted.includes(join(work, "none/such")));
  assert.equal((await runIn(sandbox, "true", { cwd: work })).code, 0);
  assert.deepEqual(below(work), before);
});

test(
  "git works in a worktree and in a submodule, whose repositories keep their hooks and config",
  inSandbox,
  async (t) => {
    const { base, work, open } = workplace(t);
    git(work, "commit", "-q", "--allow-empty", "-m", "first");
    git(work, "worktree", "add", "-q", join(base, "tree"));
    git(work, "worktree", "add", "-q", join(base, "other"));
    git(base, "init", "-q", "outer");
    git(join(base, "outer"), "submodule", "add", "-q", work, "libs/module");
    for (const [root, repository] of [
      [join(base, "tree"), join(work, ".git")],
      [join(base, "outer/libs/module"), join(base, "outer/.git/modules/libs/module")],
    ] as const) {
      const sandbox = await open({ roots: [root] });
      const script = `
      echo new >new && git add new && git -c user.name=t -c user.email=t@example.org commit -qm second && echo committed
      echo x >${repository}/config; echo x >${repository}/hooks/pre-commit; mv ${repository}/hooks ${repository}/h2
      echo x >.git; mv .git .git2; echo evil >${join(work, ".git/worktrees/other/commondir")}`;
      const config = readFileSync(join(repository, "config"), "utf8");
      const { stdout, findings } = await runIn(sandbox, script, { cwd: root });
      assert.equal(stdout, "committed\n");
      assert.equal(readFileSync(join(repository, "config"), "utf8"), config);
      assert.equal(existsSync(join(repository, "hooks/pre-commit")), false);
      // another worktree still belongs to its repository
      assert.equal(git(join(base, "other"), "rev-parse", "--is-inside-work-tree"), "true\n");
      assert.equal(findings.movedAside.length, repository === join(work, ".git") ? 1 : 0);
    }
  },
);

test(
  "the repository of a nested submodule keeps its hooks, also from the repository around it",
  inSandbox,
  async (t) => {
    const { base, work, open } = workplace(t);
    git(work, "commit", "-q", "--allow-empty", "-m", "first");
    git(base, "init", "-q", "outer");
    git(join(base, "outer"), "submodule", "add", "-q", work, "libs/module");
    const sandbox = await open({ roots: [join(base, "outer")] });
    const script = `
    cd .git/modules/libs/module; echo x >config; echo x >hooks/post-checkout; mv hooks h2; cd ..; mv module m2
    cd ..; mv libs l2; cd ..; mv modules m2; echo x >$ROOT/libs/module/.git`;
    const { stderr } = await runIn(sandbox, script, {
      cwd: join(base, "outer"),
      env: { ROOT: join(base, "outer") },
    });
    assert.equal(stderr.match(/Read-only file system|Device or resource busy/g)?.length, 7, stderr);
  },
);

test("a link of a worktree that does not lead back opens nothing", inSandbox, async (t) => {
  const { base, work, outside, open } = workplace(t);
  put(base, { "bait/.git": `gitdir: ${outside}\n`, "bait2/.git": `gitdir: ${join(work, ".git")}\n` });
  for (const name of ["bait", "bait2"]) {
    const sandbox = await open({ roots: [join(base, name)] });
    const { stderr } = await runIn(sandbox, `echo x >${outside}/file; echo x >${work}/.git/HEAD`, {
      cwd: base,
    });
    assert.equal(stderr.match(/Read-only file system/g)?.length, 2, stderr);
  }
});

test("a command ends with its own status, and a signal to its group reaches it", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  const sandbox = await open();
  assert.equal((await runIn(sandbox, "exit 7", { cwd: work })).code, 7);
  assert.equal((await runIn(sandbox, "kill -KILL $$", { cwd: work })).code, 137);
  const script = "trap 'echo cleaned up; exit 3' TERM; sleep 100 & echo ready; wait";
  const run = sandbox.wrap({
    command: "sh",
    args: ["-c", script],
    cwd: work,
    env: process.env,
    ownSession: true,
  });
  const child = spawn(run.command, run.args, {
    env: run.env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = text(child.stdout);
  await once(child.stdout, "readable");
  process.kill(-(child.pid ?? assert.fail("it did not start")), "SIGTERM");
  const [code] = await once(child, "exit");
  assert.deepEqual([code, await output], [3, "ready\ncleaned up\n"]);
});

test(
  "a command that is killed leaves no process behind, not even one that left its session",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const sandbox = await open();
    const mark = `parley-${process.pid}-${Date.now()}`;
    const script = `setsid sh -c 'while :; do sleep 1; done' ${mark} & echo ready; wait`;
    for (const ownSession of [true, false]) {
      const run = sandbox.wrap({
        command: "sh",
        args: ["-c", script],
        cwd: work,
        env: process.env,
        ownSession,
      });
      const child = spawn(run.command, run.args, {
        env: run.env,
        detached: true,
        stdio: ["ignore", "pipe", "inherit"],
      });
      // it ends when the last process that could write to it has ended
      const output = text(child.stdout);
      await once(child.stdout, "readable");
      process.kill(-(child.pid ?? assert.fail("it did not start")), "SIGKILL");
      assert.equal(await output, "ready\n");
    }
  },
);

test("a program that does not exist is reported as without a sandbox", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  const sandbox = await open();
  const wrap = (command: string, cwd = work) => sandbox.wrap({ command, cwd, env: process.env });
  assert.throws(() => wrap("parley-no-such-program"), {
    code: "ENOENT",
    syscall: "spawn parley-no-such-program",
  });
  assert.throws(() => wrap("./file"), { code: "EACCES" });
  assert.throws(() => wrap("true", join(work, "none")), { code: "ENOENT" });
  put(work, { "a=b": "#!/bin/sh\necho started\n" });
  assert.equal((await runIn(sandbox, "chmod +x a=b", { cwd: work })).code, 0);
  const run = sandbox.wrap({ command: "./a=b", cwd: work, env: process.env, ownSession: true });
  const child = spawn(run.command, run.args, {
    env: run.env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.equal(await text(child.stdout), "started\n");
});

test("root is told that it cannot work in a folder that another user has closed, and hides nothing there", {
  ...inSandbox,
  skip: inSandbox.skip || (process.getuid?.() !== 0 && "only root enters such folders"),
}, async (t) => {
  const { base, home, work, open } = workplace(t);
  for (const folder of [home, work]) {
    chownSync(folder, 65_534, 65_534);
    chmodSync(folder, 0o700);
  }
  await assert.rejects(open({ roots: [join(work, "packages")] }), {
    name: "SandboxError",
    message: /another user/,
  });
  const sandbox = await open({ roots: [join(base, "outside")], hide: [join(home, ".config/tool")] });
  assert.equal(
    (await runIn(sandbox, `cat ${home}/.ssh/id_ed25519 || echo no`, { cwd: base })).stdout,
    "no\n",
  );
});

test("relative paths are refused, and so is a sandbox that cannot start", inSandbox, async () => {
  await assert.rejects(openSandbox({ roots: ["src"] }), { name: "TypeError", message: /roots .*"src"/ });
  const error = new SandboxError({ problem: "not_installed", reason: "no bwrap", fix: "install it" });
  assert.equal(error.message, "No sandbox can start: no bwrap. To fix it: install it");
});

test(
  "a command in a pseudo-terminal has a terminal, and Ctrl+C reaches it and nothing else",
  withHosts,
  async (t) => {
    const { base, work, open } = workplace(t);
    const sandbox = await open();
    const script =
      "trap 'echo interrupted' INT; stty size >/dev/null && echo terminal; until read -r line; do :; done; echo got $line";
    const run = sandbox.wrap({
      command: "sh",
      args: ["-c", script],
      cwd: work,
      env: process.env,
      ownSession: true,
    });
    const words = [run.command, ...run.args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    put(base, { start: `exec ${words.join(" ")}\n` });
    // socat owns the terminal, as node-pty does
    const child = spawn("socat", ["-", `EXEC:sh ${join(base, "start")},pty,setsid,ctty,echo=0`], {
      env: run.env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    let output = "";
    for await (const piece of child.stdout.setEncoding("utf8")) {
      output += piece;
      if (output.endsWith("terminal\r\n")) child.stdin.write("\x03");
      if (output.endsWith("interrupted\r\n")) child.stdin.write("on\n");
    }
    assert.match(output, /^terminal\r\ninterrupted\r\ngot on\r\n$/);
  },
);

test("many sockets in the workspace do not keep those of other programs reachable", inSandbox, async (t) => {
  const { work, outside, open } = workplace(t);
  const sockets = (folder: string, count: number) =>
    Array.from({ length: count }, (_, number) => join(folder, `${number}.sock`));
  const paths = [...sockets(work, 200), ...sockets(outside, 20)];
  const servers = paths.map((path) => createServer((socket) => socket.end("SECRET")).listen(path));
  t.after(() => Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve)))).then());
  await Promise.all(servers.map((server) => once(server, "listening")));
  const script = `for each in ${outside}/*.sock; do socat -u UNIX-CONNECT:$each -; done`;
  assert.equal((await runIn(await open(), script, { cwd: work })).stdout, "");
});
