import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { test } from "node:test";
import { searchProject } from "../../../test/support/search-project.ts";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import { findTool, listTool } from "./find-and-list.ts";
import { grepTool } from "./grep.ts";

test("files are found by name, at any depth", async (t) => {
  const { call } = await searchProject(t);
  const { told, prepared } = await call(findTool, { pattern: "*.ts" });
  assert.deepEqual(told.split("\n"), ["src/a.ts", "src/build/b.ts", "src/nested/y.ts"]);
  assert.equal(prepared.presentation.title, "Find *.ts");
  assert.equal((await call(findTool, { pattern: "src/*.{js,ts}" })).told, "src/a.ts");
  assert.equal((await call(findTool, { pattern: "nested" })).told, "src/nested/");
  assert.equal((await call(findTool, { pattern: "*.yml" })).told, ".github/ci.yml");
  assert.equal(
    (await call(findTool, { pattern: "*.rs" })).told,
    "[nothing matches *.rs; files that git ignores were skipped]",
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
  const { call } = await searchProject(t);
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
  assert.ok(told.endsWith("\n[the first 1000 entries; list a subdirectory, or use a smaller depth]"));
});

test("a folder outside the roots is a question, and what is in it is found without following its links", async (t) => {
  const { call, prepare, at, put, base } = await probe(t);
  put("../other/a.ts", "needle\n");
  put("../other/.env", "needle\n");
  put("../hidden/b.ts", "needle\n");
  symlinkSync(`${base}/hidden`, `${base}/other/hidden`);
  symlinkSync(`${base}/other`, at("up"));
  const [other, access] = [`${base}/other`, { type: "read", outside: "tree" }];
  assert.deepEqual((await prepare(listTool, { path: "../other" })).access, { ...access, paths: [other] });
  assert.deepEqual((await prepare(listTool, { path: "up" })).access, { ...access, paths: [at("up"), other] });
  assert.equal((await call(listTool, { path: "up" })).told, ".env\na.ts\nhidden@");
  assert.equal((await call(findTool, { pattern: "*.ts", path: "../other" })).told, `${other}/a.ts`);
  assert.deepEqual((await call(grepTool, { pattern: "needle", path: "../other" })).told.split("\n"), [
    `${other}/a.ts:1:needle`,
    `[not searched, because they may hold secrets: ${other}/.env]`,
  ]);
  const one = await call(grepTool, { pattern: "needle", path: "../other/a.ts" });
  assert.equal(one.told, `${other}/a.ts:1:needle`);
  assert.match(await refusal(call(listTool, { path: "../other/a.ts" })), /is not a directory; use read$/);
});

test("TH17 a search is not held up by a pipe in the place of a repository's files", async (t) => {
  const { put, call, at } = await probe(t);
  put("one/a.txt", "here");
  put("two/b.txt", "here");
  put("two/.git", "gitdir: elsewhere");
  put("two/elsewhere/HEAD", "");
  execFileSync("mkfifo", [at("one/.git"), at("two/elsewhere/commondir")]);
  for (const path of ["one", "two"])
    assert.match(
      (await call(findTool, { pattern: "*.txt", path })).told,
      /^[ab]\.txt|^(?:one|two)\/[ab]\.txt/,
    );
  assert.match((await call(grepTool, { pattern: "here" })).told, /a\.txt:1:here\n.*b\.txt:1:here/);
});
