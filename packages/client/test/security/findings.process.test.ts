// The attacks of the field tests (V1-V7, V10-V13), by a real agent with real commands, where there is no sandbox: the rules
// refuse them, or have them asked. What a rule with ** trusts is listed.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { PermissionQuestion } from "../../src/policy.ts";
import { rules } from "../support/gate-probe.ts";
import { type Attempt, type Ground, ground, hostile, tally } from "./hostile-probe.ts";
import { hiddenCommands, hiddenNames } from "./shell-tricks.ts";

const posix = { skip: process.platform === "win32" ? "needs POSIX shells" : false, timeout: 120_000 };
const refused = -32060;

interface Attack {
  readonly id: string;
  readonly rules: readonly string[];
  /** What the agent does. The attack works if the file PWN appears. */
  attempts(ground: Ground): readonly Attempt[];
  prepare?(ground: Ground): void;
}

const run = (command: string, args: readonly string[] = [], more: Partial<Attempt> = {}): Attempt => ({
  act: "run",
  command,
  args: [...args],
  ...(more as object),
});

/** A repository whose config runs a program, as an agent that may write to docs can make one. */
const fakeRepository = ({ at }: Ground, config: string): Attempt[] =>
  Object.entries({
    HEAD: "ref: refs/heads/main\n",
    "objects/a": "",
    "refs/a": "",
    config: `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n${config}\n`,
  }).map(([name, content]) => ({ act: "write", path: at(`docs/x/${name}`), content }));

const scripts: Readonly<Record<string, string>> = {
  "build.js": "require('fs').writeFileSync(process.env.PWN ?? '../PWN','')",
  "build.sh": "touch ../PWN",
  "package.json": '{"scripts":{"test":"touch ../PWN"}}',
  Makefile: "test:\n\ttouch ../PWN\n",
};

const attacks: readonly Attack[] = [
  {
    id: "V1 a repository of the agent's own",
    rules: ["allow write docs/**", "allow exec git status", "allow exec git diff"],
    attempts: (ground) => [
      ...fakeRepository(
        ground,
        `fsmonitor = "touch ${ground.at("PWN")}; false"\n[diff]\nexternal = "touch ${ground.at("PWN")}"`,
      ),
      run("git", ["status"], { cwd: ground.at("docs/x") } as Partial<Attempt>),
      run("git", ["diff"], { cwd: ground.at("docs/x") } as Partial<Attempt>),
      run(`cd ${ground.at("docs/x")} && git status`),
      run("sh", ["-c", "cd docs/x && git status"]),
      run("git", ["-C", "docs/x", "status"]),
      run("git", ["--git-dir=docs/x", "status"]),
      run("git", ["status"], { env: { GIT_DIR: ground.at("docs/x") } } as Partial<Attempt>),
      run("GIT_DIR=docs/x git status"),
    ],
  },
  {
    id: "V2 the same words in another directory",
    rules: [
      "allow write docs/**",
      "allow exec node build.js",
      "allow exec sh build.sh",
      "allow exec npm test",
      "allow exec make test",
    ],
    attempts: ({ at }) => [
      ...Object.entries(scripts).map(
        ([name, content]): Attempt => ({ act: "write", path: at(`docs/${name}`), content }),
      ),
      ...["node build.js", "sh build.sh", "npm test", "make test"].flatMap((line) => {
        const [command = "", ...args] = line.split(" ");
        return [
          run(command, args, { cwd: at("docs") } as Partial<Attempt>),
          run(`cd docs && ${line}`),
          run("sh", ["-c", `cd ./docs && ${line}`]),
        ];
      }),
      run("node", ["docs/build.js"]),
      run("make", ["-C", "docs", "test"]),
    ],
  },
  {
    id: "V3 a program over a link",
    rules: ["allow exec ./build.sh", "allow exec build.sh"],
    prepare({ at, outside, put }) {
      put("build.sh", "#!/bin/sh\n");
      mkdirSync(join(outside, "a/b"), { recursive: true });
      writeFileSync(join(outside, "build.sh"), `#!/bin/sh\ntouch ${at("PWN")}\n`);
      chmodSync(join(outside, "build.sh"), 0o755);
      mkdirSync(at("docs"));
      symlinkSync(join(outside, "a/b"), at("docs/l"));
    },
    attempts: ({ at, outside }) => [
      run("docs/l/../../build.sh"),
      run("./docs/l/../../build.sh"),
      run(at("docs/l/../../build.sh")),
      run("build.sh", [], { env: { PATH: `${outside}:/usr/bin:/bin` } } as Partial<Attempt>),
      run("./build.sh", [], { cwd: at("docs/l/../..") } as Partial<Attempt>),
      run("cd docs/l/../.. && ./build.sh"),
    ],
  },
  {
    id: "V5 variables that make a command another one",
    rules: [
      "allow exec make clean",
      "allow exec git status",
      "allow exec sh build.sh",
      "allow exec node build.js",
    ],
    prepare({ put }) {
      put("Makefile", "clean:\n\t$(RM) nothing\n");
      put("build.sh", "true\n");
      put("build.js", "");
    },
    attempts: ({ at, put }) => {
      const evil = put("evil.sh", `touch ${at("PWN")}\n`);
      const js = put("evil.js", `require("fs").writeFileSync(${JSON.stringify(at("PWN"))}, "")`);
      const make = [
        { RM: `touch ${at("PWN")} #` },
        { MAKEFLAGS: `RM=touch\\ ${at("PWN")}\\ \\#` },
        { SHELL: evil, MAKEFILES: "x" },
      ];
      const git = [
        {
          GIT_CONFIG_COUNT: "1",
          GIT_CONFIG_KEY_0: "core.fsmonitor",
          GIT_CONFIG_VALUE_0: `touch ${at("PWN")}`,
        },
        { GIT_EXTERNAL_DIFF: `touch ${at("PWN")}`, PAGER: `touch ${at("PWN")}` },
      ];
      return [
        ...make.map((env) => run("make", ["clean"], { env } as Partial<Attempt>)),
        run(`RM='touch ${at("PWN")} #' make clean`),
        run("sh", ["-c", `RM='touch ${at("PWN")} #' make clean`]),
        run("env", [`RM=touch ${at("PWN")} #`, "make", "clean"]),
        run("make", ["clean", `RM=touch ${at("PWN")} #`]),
        ...git.map((env) => run("git", ["status"], { env } as Partial<Attempt>)),
        run("sh", ["build.sh"], { env: { ENV: evil, BASH_ENV: evil, LD_PRELOAD: evil } } as Partial<Attempt>),
        run("node", ["build.js"], { env: { NODE_OPTIONS: `--require ${js}` } } as Partial<Attempt>),
      ];
    },
  },
  {
    id: "V11 a protected directory to run in",
    rules: ["allow *"],
    prepare({ root, put }) {
      execFileSync("git", ["init", "-q"], { cwd: root });
      put("pre-commit", "#!/bin/sh\n");
      execFileSync("tar", ["-cf", "hook.tar", "pre-commit"], { cwd: root });
    },
    attempts: ({ at }) => [
      run("tar", ["-xf", "../../hook.tar"], { cwd: at(".git/hooks") } as Partial<Attempt>),
      run("cd .git/hooks && tar -xf ../../hook.tar"),
      run("cd .git; cp ../pre-commit hooks/"),
      run("cp pre-commit .git/hooks/"),
      run("cp pre-commit .g*/h*/"),
      run("cp pre-commit .git/{hooks,x}/"),
      run("ln", ["-s", "../../pre-commit", ".git/hooks/pre-commit"]),
      run("git", ["init"], { cwd: at(".git") } as Partial<Attempt>),
    ],
  },
];

for (const { id, rules: texts, attempts, prepare } of attacks) {
  test(`${id}: no effect without a person (no sandbox)`, posix, async (t) => {
    const workspace = ground(t);
    prepare?.(workspace);
    const { attempt } = await hostile(t, workspace.root, { rules: rules(...texts) });
    const tried = attempts(workspace);
    const results = await attempt(tried);
    const violations = ["PWN", ".git/hooks/pre-commit"].filter((name) => existsSync(workspace.at(name)));
    for (const [at, { code }] of results.entries())
      if (tried[at]?.act === "run" && code === undefined)
        violations.push(`${JSON.stringify(tried[at])} was run`);
    tally(t, id, tried.length, violations);
  });
}

test(
  "V4, V10 lines that hide a command or a file: each works in a shell, and none through the gate",
  posix,
  async (t) => {
    const workspace = ground(t);
    const reset = () => {
      workspace.put("canary", "");
      workspace.put("secret.txt", "hush");
      workspace.put("docs/a.md", "");
      if (!existsSync(workspace.at("docs/link"))) symlinkSync("..", workspace.at("docs/link"));
    };
    const works = (line: string, isHit: (stdout: string) => boolean) =>
      ["bash", "sh"].some((shell) => {
        reset();
        const { stdout } = spawnSync(shell, ["-c", line], {
          cwd: workspace.root,
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        });
        return isHit(stdout ?? "");
      });
    // a sample here; all of them in `npm run test:security`
    const step = process.env["PARLEY_RACE_SECONDS"] === undefined ? 10 : 1;
    const sample = (all: readonly string[]) => all.filter((_, at) => at % step === 0);
    const real = [
      ...sample(hiddenCommands).filter((line) => !works(line, () => !existsSync(workspace.at("canary")))),
      ...sample(hiddenNames).filter((line) => !works(line, (stdout) => stdout.includes("hush"))),
    ];
    assert.deepEqual(real, [], "each is an attack");
    const { attempt } = await hostile(t, workspace.root, {
      rules: rules("deny exec rm", "deny read secret.txt", "allow *"),
    });
    reset();
    const tried = [...hiddenCommands, ...hiddenNames].flatMap((line): Attempt[] => [
      run("bash", ["-c", line]),
      run("sh", ["-c", line]),
      ...(line.trim().includes(" ") ? [run(line)] : []),
    ]);
    const results = await attempt(tried);
    const violations = results.flatMap(({ code, value = "" }, at) =>
      code === refused ? [] : [`${JSON.stringify(tried[at])} was answered ${code ?? value}`],
    );
    if (!existsSync(workspace.at("canary"))) violations.push("the canary is gone");
    tally(t, "lines that hide what they do", tried.length, violations);
  },
);

test(
  "V6, V7 a yes is for the variables that were shown, of what is done and of what is said",
  posix,
  async (t) => {
    const workspace = ground(t);
    workspace.put("Makefile", "clean:\n\t$(RM) nothing\n");
    const shown: PermissionQuestion[] = [];
    const permission = (question: PermissionQuestion) => {
      shown.push(question);
      return question.summary.includes("RM=") ? "deny:once" : "allow:session";
    };
    const { attempt } = await hostile(t, workspace.root, { asker: { permission } });
    const env = { RM: `touch ${workspace.at("PWN")} \u001b]0;x\u0007 #` };
    const claim = (rawInput: object): Attempt => ({
      act: "ask",
      title: "make clean",
      kind: "execute",
      rawInput,
    });
    const results = await attempt([
      run("make", ["clean"]),
      run("make", ["clean"]),
      run("make", ["clean"], { env } as Partial<Attempt>),
      run(`RM='touch ${workspace.at("PWN")}' make clean`),
      claim({ command: "make clean" }),
      claim({ command: "make clean", env }),
      claim({ command: `RM='touch ${workspace.at("PWN")}' make clean` }),
      claim({ command: ["make", "clean"], env: [{ name: "RM", value: "evil" }] }),
    ]);
    const got = results.map(
      ({ code, value = "" }) => code ?? (/^(?:true|false)$/.test(value) ? value : "ran"),
    );
    assert.deepEqual(got, ["ran", "ran", refused, refused, "true", "false", "false", "false"]);
    assert.ok(!existsSync(workspace.at("PWN")));
    for (const { summary } of shown.slice(1)) assert.match(summary, /^run (?:RM=|make)/);
    tally(t, "variables that were not shown", results.length, []);
  },
);

test(
  "V12 a script that changes while it is asked about is asked about again, also in a line that nobody can read",
  posix,
  async (t) => {
    const workspace = ground(t);
    const script = workspace.at("build.sh");
    let asked = 0;
    const permission = () => {
      if (++asked > 1) return "deny:once";
      writeFileSync(script, `touch ${workspace.at("PWN")}\n`);
      return "allow:once";
    };
    const { attempt } = await hostile(t, workspace.root, { asker: { permission } });
    for (const line of [
      "sh build.sh",
      "sh ./build.sh; true",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is code for a shell
      'sh build.sh "${X:-"y"}"',
      `sh build.sh ${Array.from({ length: 5_000 }, (_, at) => at).join()}`,
      "BASH_ENV=./build.sh bash -c 'true'",
    ]) {
      workspace.put("build.sh", "true\n");
      asked = 0;
      const [result] = await attempt([run(line)]);
      const isDone = existsSync(workspace.at("PWN"));
      assert.deepEqual([result?.code, asked, isDone], [refused, 2, false], line.slice(0, 80));
    }
  },
);

test("V13 what a claim says beside its command counts", posix, async (t) => {
  const { root } = ground(t);
  const { attempt } = await hostile(t, root, { rules: rules("allow exec npm test") });
  const claims: object[] = [
    { command: "npm test", commands: ["rm -rf ~"] },
    { Command: "rm -rf ~", command: "npm test" },
    { params: { command: "rm -rf ~" }, command: "npm test" },
    { command: "npm test", script: "rm -rf ~" },
    { command: "npm test", shell: "/tmp/evil" },
    { command: "npm test", stdin: "evil" },
    { command: "npm test", runAs: "root" },
    { command: "npm test", input: "rm -rf ~" },
    { command: "npm test", cwd: "docs" },
    { command: "npm test", env: { PATH: "/tmp/evil" } },
    { command: "npm test\nrm -rf ~" },
    { command: "npm test", args: ["--", "x"] },
    { command: ["npm", "test"], sandbox: "off" },
    { argv: ["npm", "test"], cmd: "rm -rf ~" },
  ];
  const tried = claims.map(
    (rawInput): Attempt => ({ act: "ask", title: "npm test", kind: "execute", rawInput }),
  );
  const results = await attempt(tried);
  const violations = results.flatMap(({ value }, at) =>
    value === "false" ? [] : [`${JSON.stringify(claims[at])} was answered ${value}`],
  );
  tally(t, "claims that say more than their command", tried.length, violations);
});

test("what a rule with ** trusts: these run, as the rule says", posix, async (t: TestContext) => {
  const workspace = ground(t);
  execFileSync("git", ["init", "-q"], { cwd: workspace.root });
  const { attempt } = await hostile(t, workspace.root, {
    rules: rules(
      "allow exec git log **",
      "allow exec git diff **",
      "allow exec find **",
      "allow exec awk **",
      "allow exec make **",
    ),
  });
  workspace.put("Makefile", "x:\n\ttouch trusted\n");
  const trusted: readonly (readonly string[])[] = [
    ["git", "diff", "--no-index", "--output=trusted", "/dev/null", "Makefile"],
    ["find", ".", "-maxdepth", "0", "-exec", "touch", "trusted", ";"],
    ["awk", 'BEGIN { system("touch trusted") }'],
    ["make", "x"],
    ["make", "--eval=y:; touch trusted", "y"],
  ];
  for (const [command = "", ...args] of trusted) {
    rmSync(workspace.at("trusted"), { force: true });
    await attempt([run(command, args)]);
    assert.ok(existsSync(workspace.at("trusted")), `${command} ${args.join(" ")}`);
    t.diagnostic(`trusted by exec ${command} **: ${command} ${args.join(" ")}`);
  }
  // and not a line that a shell has to read, another directory, or a variable
  rmSync(workspace.at("trusted"));
  const results = await attempt([
    run("make x; true"),
    run("make $X"),
    run("make", ["x"], { env: { SHELL: "x" } } as Partial<Attempt>),
    run("./make", ["x"]),
    run("make", ["x"], {
      cwd: workspace.put("docs/Makefile", "x:\n\ttouch ../trusted\n").replace("/Makefile", ""),
    } as Partial<Attempt>),
  ]);
  assert.deepEqual(
    results.map(({ code }) => code),
    Array.from({ length: 5 }, () => refused),
  );
  assert.ok(!existsSync(workspace.at("trusted")));
  assert.match(readFileSync(workspace.at("Makefile"), "utf8"), /^x:/);
});
