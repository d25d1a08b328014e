import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { type Probe, probe, refusal } from "../../../test/support/tool-probe.ts";
import { editTool } from "../files/edit.ts";
import { readTool } from "../files/read.ts";
import { findTool, listTool } from "./find-and-list.ts";
import { grepTool } from "./grep.ts";

async function project(t: Parameters<typeof probe>[0]): Promise<Probe> {
  const made = await probe(t);
  const { put, at } = made;
  mkdirSync(at(".git/info"), { recursive: true });
  put(".git/info/exclude", "private.txt\n");
  put(".git/config", "needle");
  put(".gitignore", "node_modules/\n*.log\n!keep.log\n/build\n");
  put("src/a.ts", "one\nneedle here\nthree\n");
  put("src/build/b.ts", "NEEDLE\n");
  put("src/nested/.gitignore", "*.gen.ts\n!/special.log\n");
  put("src/nested/x.gen.ts", "needle");
  put("src/nested/y.ts", "needle\r\n");
  put("src/nested/special.log", "needle");
  put("build/out.ts", "needle");
  put("node_modules/dep/index.js", "needle");
  put("debug.log", "needle");
  put("keep.log", "needle");
  put("private.txt", "needle");
  put(".github/ci.yml", "needle");
  put(".env", "NEEDLE=needle");
  put("binary", Uint8Array.of(0, 1, 2));
  symlinkSync("..", at("src/loop"));
  return made;
}

test("a search goes through what git does not ignore, line by line, and leaves secrets alone", async (t) => {
  const { call, at, cwd } = await project(t);
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

test("a search can be narrowed and widened", async (t) => {
  const { call } = await project(t);
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

test("the rules of a repository hold in the directories below it, also from above the roots", async (t) => {
  const { call, put, base } = await probe(t);
  mkdirSync(`${base}/.git`);
  put("../.gitignore", "ignored/\n");
  put("ignored/a", "needle");
  put("b", "needle");
  assert.equal((await call(grepTool, { pattern: "needle" })).told, "b:1:needle");
});

test("a literal is searched verbatim, and an invalid expression is reported", async (t) => {
  const { call, put } = await probe(t);
  put("a", "f(x)[0] + 1.5\n");
  assert.equal((await call(grepTool, { pattern: "(x)[0] + 1.5", literal: true })).told, "a:1:f(x)[0] + 1.5");
  assert.match(
    await refusal(call(grepTool, { pattern: "(x" })),
    /^"\(x" is not a valid regular expression .*set literal/,
  );
  assert.equal((await call(grepTool, { pattern: "\\-?1\\.5$" })).told, "a:1:f(x)[0] + 1.5");
});

test("a long line is cut, and a pattern that takes for ever is given up", { timeout: 60_000 }, async (t) => {
  const { call, put } = await probe(t);
  put("long", `needle${"x".repeat(1_000)}`);
  const { told } = await call(grepTool, { pattern: "needle" });
  assert.equal(told, `long:1:needle${"x".repeat(494)}… [506 more characters]`);
  put("slow", `${"a".repeat(40)}b`);
  const slow = await call(grepTool, { pattern: "(a+)+$", path: "slow" });
  assert.equal(slow.told, "[no matches]\n[given up, because the pattern took too long there: slow]");
});

test("files are found by name, at any depth", async (t) => {
  const { call } = await project(t);
  const { told, prepared } = await call(findTool, { pattern: "*.ts" });
  assert.deepEqual(told.split("\n"), ["src/a.ts", "src/build/b.ts", "src/nested/y.ts"]);
  assert.equal(prepared.presentation.title, "Find *.ts");
  assert.equal((await call(findTool, { pattern: "src/*.{js,ts}" })).told, "src/a.ts");
  assert.equal((await call(findTool, { pattern: "nested" })).told, "src/nested/");
  assert.equal((await call(findTool, { pattern: "*.yml" })).told, ".github/ci.yml");
  assert.equal(
    (await call(findTool, { pattern: "*.rs" })).told,
    "[nothing matches *.rs; what git ignores was left out]",
  );
  assert.equal(
    (await call(findTool, { pattern: "*.ts", limit: 1 })).told,
    "src/a.ts\n[1 found, there are more; raise limit or use a narrower pattern]",
  );
  assert.equal(
    (await call(findTool, { pattern: "index.js", ignored: true })).told,
    "node_modules/dep/index.js",
  );
});

test("a directory is listed, as deep as asked", async (t) => {
  const { call } = await project(t);
  const { told, prepared } = await call(listTool, {});
  assert.deepEqual(told.split("\n"), [".env", ".github/", ".gitignore", "binary", "keep.log", "src/"]);
  assert.equal(prepared.presentation.title, "List the working directory");
  const deep = await call(listTool, { path: "src", depth: 2 });
  assert.deepEqual(deep.told.split("\n"), [
    "a.ts",
    "build/",
    "  b.ts",
    "loop@",
    "nested/",
    "  .gitignore",
    "  special.log",
    "  y.ts",
  ]);
  assert.equal(deep.prepared.presentation.title, "List src");
  assert.equal(await refusal(call(listTool, { path: "src/a.ts" })), "src/a.ts is not a directory; use read");
});

test("a long list says what is missing", async (t) => {
  const { call, put } = await probe(t);
  for (let i = 0; i < 1_001; i += 1) put(`f${i}`, "");
  const { told } = await call(listTool, {});
  assert.equal(told.split("\n").length, 1_001);
  assert.ok(told.endsWith("\n[the first 1000 entries; list a directory below it, or less deep]"));
});

test("nothing outside the roots is searched or listed", async (t) => {
  const { call, at, base } = await probe(t);
  symlinkSync(base, at("up"));
  for (const path of ["..", "up", "/etc"]) {
    assert.match(await refusal(call(listTool, { path })), /outside the workspace/);
    assert.match(await refusal(call(grepTool, { pattern: "x", path })), /outside the workspace/);
    assert.match(await refusal(call(findTool, { pattern: "x", path })), /outside the workspace/);
  }
});

test("a long search lets others work, and is cancelled at once", async (t) => {
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

test("a cancelled search stops", async (t) => {
  const { call, put } = await probe(t);
  put("a/b/c", "x");
  const stopped = AbortSignal.abort(new DOMException("stop", "AbortError"));
  await assert.rejects(call(grepTool, { pattern: "x" }, stopped), { name: "AbortError" });
});

test("B7 a found line is given as it is, so that it can be edited", async (t) => {
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
