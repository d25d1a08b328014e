// What a hostile workspace, or an earlier command in it, prepares for the next sandbox: links, names, programs, numbers.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { hostForwarder } from "@parley/sandbox";
import { inSandbox, withHosts } from "../support/required-sandbox.ts";
import { git, put, runIn, workplace } from "../support/workplace.ts";

/** A folder in the real /tmp. */
function inTmp(t: TestContext): string {
  const folder = realpathSync(mkdtempSync("/tmp/parley-hostile-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The folder for temporary files of this process, for the time of a test. */
function moveTemporaryFiles(t: TestContext, folder: string): void {
  const before = process.env["TMPDIR"];
  mkdirSync(folder, { recursive: true });
  process.env["TMPDIR"] = folder;
  t.after(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  });
}

test(
  "a .git file that a workspace brings along opens no other repository, also if the workspace answers for it",
  inSandbox,
  async (t) => {
    const { base, work, open } = workplace(t);
    const other = join(base, "other");
    mkdirSync(other);
    git(other, "init", "-q");
    git(other, "commit", "-qm", "x", "--allow-empty");
    rmSync(join(work, ".git"), { recursive: true });
    put(work, {
      ".git": "gitdir: fake\n",
      "fake/commondir": `${other}/.git\n`,
      "fake/gitdir": "../.git\n",
      "fake/HEAD": "ref: refs/heads/main\n",
    });
    const { stdout } = await runIn(await open(), `echo evil >${other}/.git/HEAD && echo written`, {
      cwd: work,
    });
    assert.equal(stdout, "");
    assert.match(readFileSync(join(other, ".git/HEAD"), "utf8"), /^ref: /);
  },
);

test(
  "a command cannot exchange the folder that the next one has as /tmp, where that is in the workspace",
  inSandbox,
  async (t) => {
    const { work, home, outside, open } = workplace(t);
    moveTemporaryFiles(t, join(work, "tmp"));
    const sandbox = await open();
    const swap = `for each in tmp/*; do mv "$each" moved; ln -s ${home} "$each"; done; mv tmp tmp2; mkdir tmp; for each in tmp2/*; do ln -s ${home} "tmp/\${each#tmp2/}"; done; chmod -R u+rwx .`;
    await runIn(sandbox, swap, { cwd: work });
    const next = await runIn(sandbox, "cat /tmp/.ssh/id_ed25519; echo evil >/tmp/.bashrc", { cwd: work });
    assert.doesNotMatch(next.stdout, /SECRET/);
    assert.equal(readFileSync(join(home, ".bashrc"), "utf8"), "kept");
    assert.equal(readFileSync(join(outside, "file"), "utf8"), "kept");
  },
);

test(
  "a command cannot exchange the folder of the next one's /tmp by way of another workspace",
  inSandbox,
  async (t) => {
    const { work, home, open } = workplace(t);
    // never all of /tmp, in which others work
    moveTemporaryFiles(t, inTmp(t));
    const sandbox = await open();
    const folder = sandbox.temporaryFolder ?? assert.fail();
    const other = await open({ roots: [dirname(folder)] });
    await runIn(other, `mv ${folder} ${folder}.old; ln -s ${home} ${folder}`, { cwd: dirname(folder) });
    t.after(() => rmSync(`${folder}.old`, { recursive: true, force: true }));
    assert.throws(
      () => sandbox.wrap({ command: "true", cwd: work, env: process.env }),
      /temporary folder of the sandbox .* was replaced/,
    );
  },
);

test("a command cannot exchange the folder with the sockets of the forwarder", withHosts, async (t) => {
  const { work, home, open } = workplace(t);
  moveTemporaryFiles(t, join(work, "tmp"));
  await using network = await hostForwarder({ decide: () => false });
  const sandbox = await open({ network });
  await runIn(sandbox, `mv ${network.folder} moved; ln -s ${home}/.ssh ${network.folder}; chmod -R u+rwx .`, {
    cwd: work,
  });
  const next = await runIn(sandbox, "cat /run/parley-hosts/id_ed25519", { cwd: work });
  assert.doesNotMatch(next.stdout, /SECRET/);
});

test(
  "a program in /tmp shows itself, not what else is in /tmp or where its name leads",
  inSandbox,
  async (t) => {
    const { work, home, open } = workplace(t);
    const folder = inTmp(t);
    put(folder, {
      secret: "SECRET",
      "bin/tool": '#!/bin/sh\ncat "$(dirname "$0")/../lib/words"\n',
      "lib/words": "words",
    });
    put(home, { "notes/run.sh": "#!/bin/sh\necho ran\n", "notes/private": "SECRET" });
    const alone = `/tmp/parley-alone-${process.pid}`;
    writeFileSync(alone, "#!/bin/sh\ncat /tmp/*/secret; ls /tmp\n", { mode: 0o755 });
    t.after(() => rmSync(alone));
    for (const path of [join(folder, "bin/tool"), join(home, "notes/run.sh")]) chmodSync(path, 0o755);
    const sandbox = await open({ profile: "strict" });
    const outputOf = (command: string): string => {
      const run = sandbox.wrap({ command, cwd: work, env: { PATH: process.env["PATH"] } });
      return spawnSync(run.command, run.args, { cwd: run.cwd, env: run.env, encoding: "utf8" }).stdout;
    };
    const stdout = outputOf(alone);
    assert.doesNotMatch(stdout, /SECRET|parley-hostile/);
    assert.match(stdout, /parley-alone/);
    assert.equal(outputOf(join(folder, "bin/tool")), "words");
    put(home, { "notes/run.sh": "#!/bin/sh\ncat $(dirname $0)/private\n" });
    assert.doesNotMatch(outputOf(`/tmp/..${home}/notes/run.sh`), /SECRET/);
  },
);

test("a folder whose name is no text is said not to have been searched", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  const script = `name=$(printf 'n\\377'); mkdir -p "$name/.claude"; echo evil >"$name/.claude/settings.json"`;
  const { findings } = await runIn(await open(), script, { cwd: work });
  assert.equal(findings.isIncomplete, true);
});

test("hooks and settings that are too many for mounts are told if they change", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  const many = Array.from({ length: 200 }, (_, number) => `deep/er/n${number}/.mcp.json`);
  put(work, Object.fromEntries(many.map((path) => [path, "kept"])));
  put(work, { "deep/er/with-a-long-name/.vscode/tasks.json": "kept" });
  const sandbox = await open();
  const quiet = await runIn(sandbox, "true", { cwd: work });
  assert.deepEqual(quiet.findings.left, []);
  const { findings } = await runIn(
    sandbox,
    "for each in deep/er/*/.mcp.json deep/er/*/.vscode/tasks.json; do echo evil >$each; done 2>/dev/null",
    { cwd: work },
  );
  const changed = [...many, "deep/er/with-a-long-name/.vscode/tasks.json"]
    .filter((path) => readFileSync(join(work, path), "utf8") !== "kept")
    .map((path) => join(work, path.replace("/tasks.json", "")));
  assert.ok(changed.length > 0);
  assert.deepEqual(findings.left.map(({ path }) => path).sort(), changed.sort());
});

test("what is moved aside leaves the workspace, also if one root is in another", inSandbox, async (t) => {
  const { base, work, outside, open } = workplace(t);
  const inner = join(work, "packages");
  const sandbox = await open({ roots: [inner, work], aside: undefined });
  await runIn(sandbox, `ln -s ${outside} packages.moved-aside`, { cwd: work });
  const { findings } = await runIn(sandbox, "mkdir -p packages/b; echo evil >packages/b/.mcp.json", {
    cwd: work,
  });
  assert.ok(findings.movedAside[0]?.to.startsWith(join(base, "work.moved-aside/")));
  assert.deepEqual(readdirSync(outside), ["file"]);
  assert.ok(!existsSync(join(inner, "b/.mcp.json")));
});

test("a command inherits no open file or folder from whoever started Parley", inSandbox, async (t) => {
  const { work, home } = workplace(t);
  const program = `
    import { spawnSync } from "node:child_process";
    import { openSandbox } from "@parley/sandbox";
    const [work, home, script] = process.argv.slice(1);
    const sandbox = await openSandbox({ roots: [work], homeFolder: home });
    const run = sandbox.wrap({ command: "sh", args: ["-c", script], cwd: work, env: { ...process.env, LD_HWCAP: "loaded" }, ownSession: true });
    process.stdout.write(spawnSync(run.command, run.args, { cwd: run.cwd, env: run.env, encoding: "utf8" }).stdout);
    run.finished();
    await sandbox.close();`;
  // bash reads it if its input is a socket
  put(work, { ".bashrc": "cat /proc/self/fd/40/.ssh/id_ed25519" });
  const script =
    "ls /proc/self/fd; echo $LD_HWCAP; cat /proc/self/fd/40/.ssh/id_ed25519 /proc/self/fd/40/../outside/file";
  const node = [process.execPath, "--conditions=parley-source", "--input-type=module", "-e", program];
  const { stdout } = spawnSync(
    "bash",
    ["-c", 'exec 40<"$1"; shift; exec "$@"', "bash", home, ...node, work, home, script],
    {
      cwd: import.meta.dirname,
      env: {
        ...process.env,
        HOME: work,
        SHLVL: undefined,
        BASH_ENV: join(work, ".bashrc"),
        ENV: join(work, ".bashrc"),
      },
      encoding: "utf8",
    },
  );
  assert.doesNotMatch(stdout, /SECRET|kept|^40$/m);
  assert.match(stdout, /^0\n1\n2\n\d+\nloaded\n$/);
});

test(
  "a HOME that names another folder does not show the keys in the home of the account",
  inSandbox,
  async (t) => {
    const { work, home, open } = workplace(t);
    const account = userInfo().homedir;
    // nothing is written there
    const there = [".ssh", ".npmrc", ".bash_history", ".claude", ".docker/config.json", ".config/gh"]
      .map((path) => join(account, path))
      .filter((path) => existsSync(path) && realpathSync(path) === path);
    if (there.length === 0) return t.skip("the home of this account has no keys");
    const { args } = (await open({ homeFolder: home })).wrap({
      command: "true",
      cwd: work,
      env: { PATH: "/usr/bin:/bin" },
    });
    for (const path of there) assert.ok(args.includes(path), path);
  },
);

test("the name of a program is not taken for an option of what starts it", inSandbox, async (t) => {
  const { work, open } = workplace(t);
  put(work, { "bin/-Secho evil": "#!/bin/sh\n" });
  chmodSync(join(work, "bin/-Secho evil"), 0o755);
  const sandbox = await open();
  const wrap = () => sandbox.wrap({ command: "-Secho evil", cwd: work, env: { PATH: join(work, "bin") } });
  assert.throws(wrap, { code: "EACCES" });
});
