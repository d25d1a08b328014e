// The contract of `grep`: the same results from our own search and with ripgrep.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { test as plainTest, type TestContext } from "node:test";
import { findProgram } from "@parley/acp/node";
import { searchProject } from "../../../test/support/search-project.ts";
import { type Probe, probe, refusal } from "../../../test/support/tool-probe.ts";
import type { Tool, Vetoes } from "../base/tool.ts";
import { editTool } from "../files/edit.ts";
import { readTool } from "../files/read.ts";
import { grepTool, grepWith } from "./grep.ts";

const ripgrep = findProgram("rg");
const own = grepWith(async () => undefined);
const engines: readonly { readonly name: string; readonly tool: Tool; readonly skip: string | false }[] = [
  { name: "own search", tool: own, skip: false },
  {
    name: "ripgrep",
    tool: grepWith(async () => ripgrep),
    skip: ripgrep === undefined && "there is no rg on PATH (Debian: apt-get install ripgrep)",
  },
];

/** Runs a test with each engine. */
function test(name: string, story: (t: TestContext, grepTool: Tool) => Promise<void>): void {
  for (const { name: engine, tool, skip } of engines)
    plainTest(`${name} (${engine})`, { skip, timeout: 60_000 }, (t) => story(t, tool));
}

test("a search goes through what git does not ignore, line by line, and leaves secrets alone", async (t, grepTool) => {
  const { call, at, cwd } = await searchProject(t);
  const { told, prepared, result } = await call(grepTool, { pattern: "needle" });
  assert.deepEqual(told.split("\n"), [
    ".github/ci.yml:1:needle",
    "keep.log:1:needle",
    "src/a.ts:2:needle here",
    "src/nested/special.log:1:needle",
    "src/nested/y.ts:1:needle",
    "[not searched, because they may hold secrets: .env]",
  ]);
  assert.deepEqual(result.rawOutput, { matches: 5, files: 5 });
  assert.equal(prepared.presentation.title, 'Search for "needle"');
  assert.equal(prepared.presentation.kind, "search");
  assert.deepEqual(prepared.access, { type: "read", paths: [cwd] });
  const named = await call(grepTool, { pattern: "needle", path: ".env" });
  assert.equal(named.told, ".env:1:NEEDLE=needle");
  assert.deepEqual(named.prepared.access, { type: "read", paths: [at(".env")] });
});

test("a search can be narrowed and widened", async (t, grepTool) => {
  const { call } = await searchProject(t);
  const { told } = await call(grepTool, { pattern: "NEEDLE", ignoreCase: true, glob: "*.ts", path: "src" });
  assert.deepEqual(told.split("\n"), [
    "src/a.ts:2:needle here",
    "src/build/b.ts:1:NEEDLE",
    "src/nested/y.ts:1:needle",
  ]);
  const around = await call(grepTool, { pattern: "needle", path: "src/a.ts", context: 1 });
  assert.equal(around.told, "src/a.ts-1-one\nsrc/a.ts:2:needle here\nsrc/a.ts-3-three");
  const ignored = await call(grepTool, { pattern: "needle", glob: "{build,node_modules}/**", ignored: true });
  assert.equal(ignored.told, "build/out.ts:1:needle\nnode_modules/dep/index.js:1:needle");
  const meant = await call(grepTool, { pattern: "needle", path: "node_modules" });
  assert.equal(meant.told, "node_modules/dep/index.js:1:needle");
  const limited = await call(grepTool, { pattern: "needle", limit: 2 });
  assert.match(
    limited.told,
    /^[^\n]+\n[^\n]+\n\[2 matching lines, there may be more; raise limit or narrow the search\]/,
  );
  const none = await call(grepTool, { pattern: "no such thing", path: "src" });
  assert.equal(none.told, "[no matches]");
});

test("the rules of a repository hold in the directories below it, also from above the roots", async (t, grepTool) => {
  const { call, put, base } = await probe(t);
  mkdirSync(`${base}/.git`);
  put("../.gitignore", "ignored/\n");
  put("ignored/a", "needle");
  put("b", "needle");
  assert.equal((await call(grepTool, { pattern: "needle" })).told, "b:1:needle");
});

test("a literal is searched verbatim, and an invalid expression is reported", async (t, grepTool) => {
  const { call, put } = await probe(t);
  put("a", "f(x)[0] + 1.5\n");
  assert.equal((await call(grepTool, { pattern: "(x)[0] + 1.5", literal: true })).told, "a:1:f(x)[0] + 1.5");
  assert.match(
    await refusal(call(grepTool, { pattern: "(x" })),
    /^"\(x" is not a valid regular expression .*set literal/,
  );
  assert.equal((await call(grepTool, { pattern: "\\-?1\\.5$" })).told, "a:1:f(x)[0] + 1.5");
});

test("a long line is cut, and a pattern that takes for ever is given up", async (t, grepTool) => {
  const { call, put } = await probe(t);
  put("long", `needle${"x".repeat(1_000)}`);
  const { told } = await call(grepTool, { pattern: "needle" });
  assert.equal(told, `long:1:needle${"x".repeat(494)}… [506 more characters]`);
  put("slow", `${"a".repeat(40)}b`);
  const slow = await call(grepTool, { pattern: "(a+)+$", path: "slow" });
  assert.equal(slow.told, "[no matches]\n[not searched to the end, because the pattern took too long: slow]");
});

test("a long search lets others work, and is cancelled at once", async (t, grepTool) => {
  const { call, put } = await probe(t);
  for (let i = 0; i < 1_500; i += 1) put(`f${i}`, "some text\n".repeat(20));
  const stop = new AbortController();
  const failed = assert.rejects(call(grepTool, { pattern: "needle" }, stop.signal), { name: "AbortError" });
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (turns < 3) setImmediate(count);
    else stop.abort();
  };
  setImmediate(count);
  await failed;
});

test("a cancelled search stops", async (t, grepTool) => {
  const { call, put } = await probe(t);
  put("a/b/c", "x");
  const stopped = AbortSignal.abort(new DOMException("stop", "AbortError"));
  await assert.rejects(call(grepTool, { pattern: "x" }, stopped), { name: "AbortError" });
});

test("B7 a found line is given as it is, so that it can be edited", async (t, grepTool) => {
  const { call, put, get } = await probe(t);
  put("a.ts", "if (x) {\n\treturn needle;\n}\n");
  for (const context of [0, 1]) {
    const { told } = await call(grepTool, { pattern: "needle", context });
    const line = told.split("\n").find((each) => each.includes("needle")) ?? "";
    assert.equal(line, "a.ts:2:\treturn needle;");
  }
  await call(readTool, { path: "a.ts" });
  const edits = [{ oldText: "\treturn needle;", newText: "\treturn 1;" }];
  await call(editTool, { path: "a.ts", edits });
  assert.equal(get("a.ts"), "if (x) {\n\treturn 1;\n}\n");
});

/** What both engines tell the model, which has to be the same. */
async function sameFrom(
  { call }: Probe,
  input: Readonly<Record<string, unknown>>,
  around: (tool: Tool) => Tool = (tool) => tool,
): Promise<string> {
  const told: string[] = [];
  for (const { tool } of engines) told.push((await call(around(tool), input)).told);
  const [expected = "", given] = told;
  assert.equal(given, expected, JSON.stringify(input));
  return expected;
}

const skip = engines[1]?.skip ?? false;

plainTest("both engines understand the same patterns", { skip }, async (t) => {
  const tools = await searchProject(t);
  const { put } = tools;
  put("text/ascii.txt", "foo bar\nfoo_bar-baz.qux\n[x] {y} (z)\na\tb\nx=1;y=22\n\n--pre=sh\n");
  put("text/crlf.txt", "foo bar\r\nend;\r\n");
  put("text/bom.txt", "\ufefffoo bar\nüber straße ÜBER \u017f \u212a\n\u0663\n");
  put(
    "text/latin1.txt",
    Buffer.concat([Buffer.from("caf"), Buffer.of(0xe9), Buffer.from(" needle\nfoo bar\n")]),
  );
  put("text/emoji.txt", "x😀y\n");
  put("text/late-nul.txt", `${"z ".repeat(4_500)}\n\0foo bar\n`);
  put("text/early-nul.txt", "\0foo bar\n");
  const patterns = [
    ..."foo bar|^foo|bar$|foo.bar|end;$|caf. needle|caf[^x] needle|x.y|x..y|^.{2,4}$|\\bbar\\b|\\Bar".split(
      "|",
    ),
    ...[
      "^$",
      "\\d+",
      "\\D{3}",
      "\\w+-\\w+",
      "\\s",
      "\\S+\\s\\S+",
      "[\\w.-]+qux",
      "[-a]b",
      "[a-c]\\tb",
      "[\\]x]",
    ],
    ...[
      "(foo|end)[ ;]",
      "(?:foo)+ b",
      "fo{2} b",
      "{y}",
      "\\{y\\}",
      "x=1;y",
      "#|~|&&",
      "[[]x",
      "\\/|=",
      "\\u00fcber",
    ],
    ...[
      "(?<=foo )bar",
      "(fo)o.*\\1",
      "foo(?! bar)",
      "\\p{L}+ stra",
      "über",
      "\\xfc",
      "ſ",
      "-e",
      "--pre=sh",
      "a*?b",
    ],
  ];
  for (const pattern of patterns) await sameFrom(tools, { pattern, path: "text" });
  for (const pattern of ["FOO", "ÜBER", "S$", "k", "[A-F]OO"])
    await sameFrom(tools, { pattern, path: "text", ignoreCase: true });
  for (const pattern of ["{y} (z)", "[x]", "--pre=sh", "foo.bar", "\\d", "^"])
    await sameFrom(tools, { pattern, path: "text", literal: true });
  assert.match(await sameFrom(tools, { pattern: "foo bar" }), /^text\/ascii\.txt:1:foo bar\n/);
});

plainTest("both engines leave out the same files", { skip }, async (t) => {
  const tools = await searchProject(t);
  const { put, at, base } = tools;
  put(".ignore", "src\n");
  put("../.gitignore", "src\n");
  put("inner/.git/info/exclude", "*.excluded\n");
  put("inner/.gitignore", "*.own\n");
  for (const name of ["a.log", "a.own", "a.excluded", "a.ts"]) put(`inner/${name}`, "needle");
  for (const name of ["-n", "--files", "two\nlines", "ä", "a b", "*.ts", "!x"])
    put(`names/${name}`, "needle");
  for (const name of ["a", "a-b", "a.b", "aB", "ab"]) put(`order/${name}/x`, "needle");
  put("order/a.txt", "needle");
  put("big/data.txt", `needle\n${"x".repeat(4 * 1024 * 1024)}`);
  put("big/exact.txt", `needle\n${"x".repeat(4 * 1024 * 1024 - 7)}`);
  put("../outside", "needle");
  symlinkSync(`${base}/outside`, at("link"));
  symlinkSync(base, at("up"));
  const all = await sameFrom(tools, { pattern: "needle" });
  for (const found of [
    "inner/a.log:1:",
    "names/--files:1:",
    "src/a.ts:2:",
    "big/exact.txt:1:",
    "larger than 4 MB: 1 ",
  ])
    assert.ok(all.includes(found), found);
  for (const none of ["a.own", "a.excluded", "outside", "link", "node_modules", "private"])
    assert.ok(!all.includes(none), none);
  for (const options of [{ ignored: true }, { path: "node_modules" }, { path: "inner" }, { path: "src" }])
    await sameFrom(tools, { pattern: "needle", ...options });
  for (const options of [{ glob: "*.ts" }, { glob: "{names,order}/**" }, { limit: 3 }, { context: 2 }])
    await sameFrom(tools, { pattern: "needle", ...options });
  put(".rgignore", "src\n");
  await sameFrom(tools, { pattern: "needle" });
  await sameFrom(tools, { pattern: "needle", path: "src" });
});

plainTest("the client's rules hold for both engines", { skip }, async (t) => {
  const tools = await searchProject(t);
  const { at } = tools;
  const closed = new Set([at("src/nested"), at("keep.log")]);
  const vetoes: Vetoes = {
    refusalOf: async () => undefined,
    sandboxPolicy: () => assert.fail("no command runs"),
    unreadable: async (paths) => new Set(paths.filter((path) => closed.has(path))),
  };
  const withRules = (tool: Tool): Tool => ({
    ...tool,
    async prepare(input, context) {
      const prepared = await tool.prepare(input, context);
      return { ...prepared, run: (run) => prepared.run({ ...run, vetoes }) };
    },
  });
  assert.deepEqual((await sameFrom(tools, { pattern: "needle" }, withRules)).split("\n"), [
    ".github/ci.yml:1:needle",
    "src/a.ts:2:needle here",
    "[not searched, because they may hold secrets: .env]",
    "[not searched, because the user's rules forbid it: keep.log]",
  ]);
});

plainTest(
  "an rg of the project, of a relative folder or of a config file is not obeyed",
  { skip },
  async (t) => {
    const tools = await searchProject(t);
    const { put, at, cwd } = tools;
    const planted = put("bin/rg", "#!/bin/sh\necho planted > $(dirname $0)/ran\n");
    chmodSync(planted, 0o755);
    const { PATH = "" } = process.env;
    t.after(() => {
      process.env["PATH"] = PATH;
      delete process.env["RIPGREP_CONFIG_PATH"];
    });
    symlinkSync(at("bin"), `${tools.base}/bin`);
    process.env["PATH"] = `${at("bin")}:${tools.base}/bin:bin::${PATH}`;
    assert.equal(findProgram("rg", { outside: [cwd] }), ripgrep);
    process.env["PATH"] = at("bin");
    assert.equal(findProgram("rg", { outside: [cwd] }), undefined);
    symlinkSync(cwd, `${tools.base}/named`);
    assert.equal(
      findProgram("rg", { outside: [`${tools.base}/named`] }),
      undefined,
      "a workspace named through a link",
    );
    process.env["PATH"] = PATH;
    process.env["RIPGREP_CONFIG_PATH"] = put("rc", "--invert-match\n");
    await sameFrom(tools, { pattern: "needle", path: "src" });
    assert.ok(!existsSync(at("bin/ran")));
  },
);

plainTest(
  "TH17 a pipe in the place of .gitignore does not hold up a search for long",
  { skip },
  async (t) => {
    const { put, call, at } = await probe(t);
    put("a.txt", "needle");
    execFileSync("mkfifo", [at(".gitignore")]);
    const before = performance.now();
    const { told } = await call(
      grepWith(async () => ripgrep),
      { pattern: "needle" },
    );
    assert.equal(told, "a.txt:1:needle");
    assert.ok(performance.now() - before < 20_000);
  },
);

plainTest("where ripgrep fails the search is our own", async (t) => {
  const { call, put } = await searchProject(t);
  const program = put("broken", "#!/bin/sh\necho src/b.ts\nexit 2\n");
  chmodSync(program, 0o755);
  const broken = grepWith(async () => program);
  const missing = grepWith(async () => "/no/such/rg");
  for (const tool of [broken, missing])
    assert.match((await call(tool, { pattern: "needle", path: "src" })).told, /^src\/a\.ts:2:needle here\n/);
});

plainTest("the ripgrep on PATH is used", async (t) => {
  const { call, base } = await searchProject(t);
  const folder = `${base}/programs`;
  mkdirSync(folder);
  writeFileSync(`${folder}/rg`, `#!/bin/sh\n: > ${folder}/ran\nexit 2\n`, { mode: 0o755 });
  const { PATH = "" } = process.env;
  t.after(() => {
    process.env["PATH"] = PATH;
  });
  process.env["PATH"] = `${folder}:${PATH}`;
  assert.match(
    (await call(grepTool, { pattern: "needle", path: "src" })).told,
    /^src\/a\.ts:2:needle here\n/,
  );
  assert.ok(existsSync(`${folder}/ran`));
});

plainTest("both engines obey the rules below a directory that is in no repository", { skip }, async (t) => {
  const tools = await probe(t);
  const { put } = tools;
  put("../.gitignore", "a\n");
  put(".gitignore", "b\n");
  put("c/.gitignore", "!b\nd\n");
  for (const name of ["a", "b", "c/b", "c/d", "c/e"]) put(name, "needle");
  assert.equal(await sameFrom(tools, { pattern: "needle" }), "a:1:needle\nc/b:1:needle\nc/e:1:needle");
});
