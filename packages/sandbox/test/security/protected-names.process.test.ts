// What a command tries so that something of the workspace is not protected, or not any more.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inSandbox } from "../support/required-sandbox.ts";
import { below, git, put, runIn, workplace } from "../support/workplace.ts";

const looksBare = "mkdir objects refs; echo ref: refs/heads/main >HEAD";
const attack = `
for each in .git/hooks/pre-commit .git/config .claude/settings.json packages/a/.vscode/settings.json; do
  (echo evil >$each) 2>/dev/null && echo $each
done
mkdir .vscode; echo evil >.vscode/tasks.json; echo evil >.mcp.json; mkdir packages/.idea`;

test(
  "a command that makes the workspace look like a bare repository opens nothing, and what it plants is moved",
  inSandbox,
  async (t) => {
    for (const isShipped of [false, true]) {
      const { work, open } = workplace(t);
      if (isShipped) put(work, { HEAD: "ref: refs/heads/main\n", "objects/k": "", "refs/k": "" });
      const sandbox = await open();
      if (!isShipped) await runIn(sandbox, looksBare, { cwd: work });
      const { stdout, findings } = await runIn(sandbox, attack, { cwd: work });
      assert.equal(stdout, "");
      const moved = findings.movedAside.map(({ from }) => from.slice(work.length + 1)).sort();
      assert.deepEqual(moved, [".mcp.json", ".vscode", "packages/.idea"]);
      assert.deepEqual(findings.created, []);
    }
  },
);

test(
  "what is planted by the command that makes the workspace look like a bare repository is moved too",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    rmSync(join(work, ".git"), { recursive: true });
    const { findings } = await runIn(
      await open(),
      `${looksBare}; mkdir .vscode; echo x >.vscode/tasks.json`,
      {
        cwd: work,
      },
    );
    assert.deepEqual(
      findings.movedAside.map(({ from }) => from),
      [join(work, ".vscode")],
    );
    assert.deepEqual(findings.created, [work]);
  },
);

test(
  "a folder that has its objects and its config in another one counts as a repository, and both are protected",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const sandbox = await open();
    // git runs core.fsmonitor of y/config where sub is the folder
    const make =
      "mkdir -p sub y/objects y/refs; echo ref: refs/heads/main >sub/HEAD; echo ../y >sub/commondir";
    const { findings } = await runIn(sandbox, `${make}; echo '[core]' >y/config`, { cwd: work });
    assert.deepEqual(findings.created, [join(work, "sub")]);
    const script =
      "for each in y/config sub/commondir y/hooks/pre-commit; do (echo evil >$each) && echo $each; done";
    const { stdout } = await runIn(sandbox, `(${script}) 2>/dev/null`, { cwd: work });
    assert.equal(stdout, "");
  },
);

test(
  "worktrees of a bare repository can be added and removed, and none of them counts as a repository",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    writeFileSync(join(work, "file"), "kept");
    for (const line of ["add file", "commit -qm first", "clone -q --bare . bare.git"])
      git(work, ...line.split(" "));
    const sandbox = await open();
    for (const tree of ["one", "two"]) {
      const script = `cd bare.git && git worktree add -q ../x && git worktree remove ../x && git worktree add -q ../${tree}`;
      const { code, stderr, findings } = await runIn(sandbox, script, { cwd: work });
      assert.equal(code, 0, stderr);
      const created = [join(work, tree, ".git")];
      assert.deepEqual([findings.movedAside, findings.left, findings.created], [[], [], created]);
    }
  },
);

test("a command cannot turn the link to a repository to another one", inSandbox, async (t) => {
  const { base, work, open } = workplace(t);
  for (const target of ["repository", join(base, "repository")]) {
    const link = join(work, ".git");
    renameSync(link, join(work, target === "repository" ? target : "../repository"));
    symlinkSync(target, link);
    const script =
      "mkdir -p evil/hooks evil/objects evil/refs; echo ref: refs/heads/main >evil/HEAD; ln -sfn evil .git";
    const { findings } = await runIn(await open(), script, { cwd: work });
    assert.equal(readlinkSync(link), target);
    assert.deepEqual(
      findings.movedAside.map(({ from }) => from),
      [link],
    );
    rmSync(link);
    rmSync(join(work, "evil"), { recursive: true });
    if (target === "repository") renameSync(join(work, target), link);
  }
});

test(
  "a link that leads nowhere stays where it is, and what a command creates behind it is moved aside",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    symlinkSync("settings/editor", join(work, ".vscode"));
    symlinkSync("/nowhere/at/all", join(work, ".unknown"));
    const sandbox = await open();
    const quiet = await runIn(sandbox, "true", { cwd: work });
    assert.deepEqual([quiet.findings.movedAside, quiet.findings.left], [[], []]);
    const { findings } = await runIn(sandbox, "mkdir -p settings/editor; echo evil >.vscode/tasks.json", {
      cwd: work,
    });
    assert.deepEqual(
      findings.movedAside.map(({ from }) => from),
      [join(work, "settings/editor")],
    );
    assert.equal(readlinkSync(join(work, ".vscode")), "settings/editor");
  },
);

/** Files that agents, editors, shells and servers obey without being told to. */
const planted =
  `.pi/extensions/x .factory/x .kimi/x .vibe/x .augment/x opencode.json opencode.jsonc crush.json
  .helix/languages.toml .devcontainer.json mise.toml .mise.toml .envrc .nvim.lua .github/hooks/x .github/mcp.json .gitea/x
  .buildkite/x .bazeliskrc .autoenv.zsh .claude/x .codex/x .gemini/x .cursor/x appveyor.yml`.split(/\s+/);

test(
  "files that agents, editors and servers obey are moved aside, in the root and in every folder below",
  inSandbox,
  async (t) => {
    const { base, work, open } = workplace(t);
    rmSync(join(work, ".claude"), { recursive: true });
    mkdirSync(join(work, "deep/er"), { recursive: true });
    const script = ["", "deep/er/"]
      .flatMap((folder) => planted.map((path) => folder + path))
      .map((path) => `mkdir -p $(dirname ${path}); echo evil >${path}`)
      .join("\n");
    const { findings } = await runIn(await open(), script, { cwd: work });
    assert.deepEqual([findings.left, findings.created], [[], []]);
    const left = below(work).filter((path) =>
      planted.some((each) => path === each || path.endsWith(`/${each}`)),
    );
    assert.deepEqual(left, []);
    // all in one folder, under the names that they had
    const [first] = findings.movedAside;
    const place = first?.to.slice(0, -first.from.length + work.length) ?? "";
    assert.ok(place.startsWith(join(base, "aside/")));
    for (const { from, to } of findings.movedAside) assert.equal(to, place + from.slice(work.length));
  },
);

test(
  "a name with a dot that nobody knows is protected in the root, in repositories and in projects",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    put(work, { ".unknown": "kept", "packages/a/package.json": "{}", "packages/a/.tool/rc": "kept" });
    const sandbox = await open();
    const script = `
      for each in .unknown packages/a/.tool/rc packages/a/.tool/new; do (echo evil >$each) 2>/dev/null && echo $each; done
      echo evil >.other; rm packages/a/package.json; echo evil >packages/a/.other; echo fine >packages/.other
      mkdir -p .cache .nx/cache; echo fine >.gitignore; echo evil >.nx/nxw.js
      mkdir new; echo {} >new/package.json; echo fine >new/.other`;
    const { stdout, findings } = await runIn(sandbox, script, { cwd: work });
    assert.equal(stdout, "");
    const moved = findings.movedAside.map(({ from }) => from.slice(work.length + 1)).sort();
    assert.deepEqual(moved, [".nx/nxw.js", ".other", "packages/a/.other"]);
    // a new project is the command's own
    assert.deepEqual(findings.created, [join(work, "new/.other")]);
    for (const path of ["packages/.other", ".cache", ".nx/cache", ".gitignore"])
      assert.ok(existsSync(join(work, path)), path);
  },
);

test(
  "a path that the user has opened by name can be created and written, although it begins with a dot",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const sandbox = await open({ write: [join(work, ".tool")] });
    for (const text of ["one", "two"]) {
      const { findings } = await runIn(sandbox, `mkdir -p .tool; echo ${text} >.tool/x`, { cwd: work });
      assert.deepEqual([findings.movedAside, findings.left], [[], []]);
    }
    assert.equal(readFileSync(join(work, ".tool/x"), "utf8"), "two\n");
  },
);

test(
  "a path that the user has opened by name opens no other one, also as a link that a command has made",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const write = [join(work, ".tool")];
    for (const target of [".claude", ".mcp.json"]) {
      await runIn(await open({ write }), `ln -sfn ${target} .tool`, { cwd: work });
      const script = `(echo evil >.claude/settings.json) 2>/dev/null; echo evil >.tool; test -e .mcp.json && echo made`;
      const { stdout, findings } = await runIn(await open({ write }), `(${script}) 2>/dev/null`, {
        cwd: work,
      });
      assert.equal(readFileSync(join(work, ".claude/settings.json"), "utf8"), "kept");
      assert.equal(stdout, target === ".claude" ? "" : "made\n");
      assert.deepEqual(
        findings.movedAside.map(({ from }) => from),
        target === ".claude" ? [] : [join(work, target)],
      );
      rmSync(join(work, ".tool"));
    }
  },
);

test(
  "hooks that the user's own settings of git name for all repositories are protected",
  inSandbox,
  async (t) => {
    for (const settings of ["global", "included", "system", "variable"] as const) {
      const { base, home, work, open } = workplace(t);
      git(work, "config", "--unset", "core.hooksPath");
      put(work, { "tools/hooks/pre-commit": "kept" });
      const text = "[core]\n\thooksPath = tools/hooks\n";
      const variable = {
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "core.hooksPath",
        GIT_CONFIG_VALUE_0: "tools/hooks",
      };
      // a condition that holds in this workspace only
      const condition = `[includeIf "gitdir:${work}/"]\n\tpath = work.inc\n`;
      if (settings === "global") put(home, { ".gitconfig": text });
      if (settings === "included") put(home, { ".gitconfig": condition, "work.inc": text });
      if (settings === "system") put(base, { "etc/gitconfig": text });
      const env = {
        PATH: process.env["PATH"],
        ...(settings === "system" ? { GIT_CONFIG_SYSTEM: join(base, "etc/gitconfig") } : {}),
        ...(settings === "variable" ? variable : {}),
      };
      const script =
        "for each in pre-commit pre-push; do (echo evil >tools/hooks/$each) && echo $each; done; mv tools t2 && echo moved";
      const { stdout } = await runIn(await open({ env }), `(${script}) 2>/dev/null`, { cwd: work });
      assert.equal(stdout, "", settings);
    }
  },
);

test(
  "a hook cannot be put into a missing folder of hooks while a command runs, and no folder is left",
  inSandbox,
  async (t) => {
    for (const named of [undefined, "tools/hooks", "link"]) {
      const { work, open } = workplace(t);
      rmSync(join(work, ".git"), { recursive: true });
      git(work, "init", "-q", "--template=");
      if (named === "tools/hooks") git(work, "config", "core.hooksPath", named);
      rmSync(join(work, ".git/hooks"), { recursive: true, force: true });
      if (named === "link") symlinkSync("../link", join(work, ".git/hooks"));
      const before = below(work);
      const hook = join(work, named ?? ".git/hooks", "pre-commit");
      const script = `mkdir -p ${hook}/..; echo evil >${hook}; mv .git .git2; mv tools t2; echo tried; read -r _`;
      const sandbox = await open();
      const run = sandbox.wrap({
        command: "sh",
        args: ["-c", script],
        cwd: work,
        env: process.env,
        ownSession: true,
      });
      const child = spawn(run.command, run.args, {
        cwd: run.cwd,
        env: run.env,
        stdio: ["pipe", "pipe", "ignore"],
      });
      t.after(() => child.stdin.destroy());
      await once(child.stdout, "data");
      assert.equal(existsSync(hook), false);
      // another command that ends meanwhile does not take the mount away
      await runIn(sandbox, "true", { cwd: work });
      assert.ok(existsSync(join(hook, "..")));
      child.stdin.end("\n");
      await once(child, "exit");
      assert.deepEqual(run.finished().movedAside, []);
      assert.deepEqual(below(work), before);
    }
  },
);

test(
  "a repository that a command has created keeps its settings and hooks from the next one",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    const sandbox = await open();
    await runIn(sandbox, "git init -q --template= new", { cwd: work });
    const script =
      "mkdir -p new/.git/hooks; echo evil >new/.git/hooks/pre-commit || echo evil >new/.git/config || echo held";
    const { stdout } = await runIn(sandbox, `(${script}) 2>/dev/null`, { cwd: work });
    assert.equal(stdout, "held\n");
  },
);

test(
  "thousands of new folders do not push protected files out of the search, also for a sandbox with other rules",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    put(work, { "z/deep/er/.mcp.json": "kept" });
    const sandbox = await open();
    await runIn(sandbox, "i=0; while [ $i -lt 3100 ]; do echo a$i; i=$((i+1)); done | xargs mkdir", {
      cwd: work,
    });
    const script =
      "(echo evil >z/deep/er/.mcp.json || mv z y || echo held) 2>/dev/null; mkdir z/deep/er/.vscode";
    for (const each of [sandbox, await open({ readOnly: [join(work, "file")] })]) {
      const { stdout, findings } = await runIn(each, script, { cwd: work });
      assert.equal(stdout, "held\n");
      assert.deepEqual(
        findings.movedAside.map(({ from }) => from),
        [join(work, "z/deep/er/.vscode")],
      );
      assert.equal(findings.isIncomplete, true);
    }
  },
);

test(
  "the git folder of a submodule that a command plants is moved aside, also without objects of its own, or as a link",
  inSandbox,
  async (t) => {
    for (const kind of ["whole", "commondir", "link", "link to all"]) {
      const { work, open } = workplace(t);
      const git = ".git/modules/libs/sub";
      const evil = "mkdir -p evil/objects evil/refs; echo ref: refs/heads/main >evil/HEAD";
      const scripts: Readonly<Record<string, string>> = {
        whole: `${evil}; mkdir -p .git/modules/libs evil/modules; cp -r evil inner; mv inner evil/modules/in; mv evil ${git}`,
        commondir: `${evil}; mkdir -p ${git}; cp evil/HEAD ${git}; echo ../../../../evil >${git}/commondir`,
        link: `${evil}; mkdir -p .git/modules/libs; ln -s ../../../evil ${git}`,
        "link to all": `mkdir -p all/libs; ${evil}; mv evil all/libs/sub; ln -s ../all .git/modules`,
      };
      const { findings } = await runIn(await open(), scripts[kind]!, { cwd: work });
      assert.ok(
        findings.movedAside.some(
          ({ from }) => from === join(work, kind === "link to all" ? ".git/modules" : git),
        ),
        kind,
      );
      assert.equal(existsSync(join(work, git)), false, kind);
      assert.deepEqual(findings.left, [], kind);
    }
  },
);

test("links in a repository that lead in circles hold up no command", {
  ...inSandbox,
  timeout: 20_000,
}, async (t) => {
  const { work, open } = workplace(t);
  for (const name of ["one", "two"]) git(work, "init", "-q", "--bare", name);
  for (const folder of [".git", "one", "two"]) symlinkSync("..", join(work, folder, "modules"));
  const { code } = await runIn(await open(), "true", { cwd: work });
  assert.equal(code, 0);
});

test(
  "what a command plants in a repository that it creates in a folder that was there is moved aside, the rest stays",
  inSandbox,
  async (t) => {
    const hook = "mkdir -p .git/hooks; echo evil >.git/hooks/post-checkout";
    const monitor = "git config core.fsmonitor evil";
    const elsewhere = "git init -q evil; git -C evil config core.fsmonitor evil";
    const bare =
      "mkdir objects refs; echo ref: refs/heads/main >HEAD; git config -f config core.fsmonitor evil";
    const cases: Readonly<Record<string, readonly string[]>> = {
      "git init -q; git config user.name me; git remote add origin https://git.example/x": [],
      [`git init -q; ${hook}`]: [".git/hooks"],
      [`git init -q; ${monitor}`]: [".git/config"],
      [`git init -q; printf '[core] fsmonitor = evil\n' >>.git/config`]: [".git/config"],
      [`git init -q; printf '\turl = x\\\n' >>.git/config`]: [".git/config"],
      [`${elsewhere}; echo gitdir: evil/.git >.git`]: [".git"],
      [`${elsewhere}; ln -s evil/.git .git`]: [".git"],
      [`${elsewhere}; echo gitdir: evil/.git >file2; ln -s file2 .git`]: [".git"],
      [`cd src; git init -q; ${monitor}`]: ["src/.git/config"],
      [bare]: ["config"],
      [`mkdir new; cd new; git init -q; ${monitor}`]: [],
    };
    for (const [script, moved] of Object.entries(cases)) {
      const { work, open } = workplace(t);
      rmSync(join(work, ".git"), { recursive: true });
      mkdirSync(join(work, "src"));
      const { findings } = await runIn(await open(), script, { cwd: work });
      assert.deepEqual(
        findings.movedAside.map(({ from }) => from.slice(work.length + 1)),
        moved,
        script,
      );
      assert.notEqual(findings.created.length, 0, script);
    }
  },
);

test(
  "a worktree and a submodule in folders that were there stay, with the hooks of their repository",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    writeFileSync(join(work, "file"), "kept");
    for (const line of ["add file", "commit -qm first", "clone -q --bare . .git/modules/sub"])
      git(work, ...line.split(" "));
    put(work, { ".git/hooks/post-commit": "mine", ".git/modules/sub/hooks/post-commit": "mine" });
    for (const name of ["tree", "sub"]) mkdirSync(join(work, name));
    const script = "git worktree add -q tree && echo gitdir: ../.git/modules/sub >sub/.git";
    const { code, stderr, findings } = await runIn(await open(), script, { cwd: work });
    assert.equal(code, 0, stderr);
    assert.deepEqual([findings.movedAside, findings.left], [[], []]);
    assert.deepEqual([...findings.created].sort(), [join(work, "sub/.git"), join(work, "tree/.git")]);
  },
);

test("texts and folders that a command makes as large as it can hold up the next one for a moment only", {
  ...inSandbox,
  timeout: 60_000,
}, async (t) => {
  const { work, open } = workplace(t);
  const script = [
    "for each in 1 2 3 4; do git init -q $each; done",
    "yes '' | head -c 95000 >>1/.git/config",
    "yes '[' | head -c 95000 >>2/.git/config",
    "head -c 95000 /dev/zero | tr '\\0' '\\r' >>3/.git/config",
    "(printf 'url ='; head -c 90000 /dev/zero | tr '\\0' ' '; echo '\\') >>4/.git/config",
    "path=deep; for each in $(seq 900); do path=$path/d; done; mkdir -p $path",
    "mkdir .git/modules; cd .git/modules; seq 3000 | xargs mkdir; mkdir -p z/objects z/refs; echo ref: refs/heads/main >z/HEAD",
  ].join("\n");
  const sandbox = await open();
  const { findings } = await runIn(sandbox, script, { cwd: work });
  assert.deepEqual(
    findings.movedAside.map(({ from }) => from),
    [join(work, ".git/modules/z")],
  );
  const started = performance.now();
  await runIn(sandbox, "true", { cwd: work });
  assert.ok(performance.now() - started < 10_000);
});
