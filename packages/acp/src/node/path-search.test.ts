import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { findProgram } from "@parley/acp/node";

const posix = { skip: process.platform === "win32" ? "needs POSIX permissions" : false };

/** `project/bin/tool` and `tools/tool`, and `named`, a link to the project. */
function folders(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-path-")));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const at = (name: string) => join(base, name);
  for (const name of ["project/bin", "tools", "links", "folders/tool"])
    mkdirSync(at(name), { recursive: true });
  for (const name of ["project/bin/tool", "tools/tool"])
    writeFileSync(at(name), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(at("tools/plain"), "", { mode: 0o644 });
  symlinkSync(at("project"), at("named"));
  symlinkSync(at("project/bin/tool"), at("links/tool"));
  return { at, path: (...names: string[]) => names.map(at).join(delimiter) };
}

test("the first program of that name on PATH is found; a folder or a plain file is none", posix, (t) => {
  const { at, path } = folders(t);
  assert.equal(findProgram("tool", { path: path("folders", "tools", "project/bin") }), at("tools/tool"));
  assert.equal(findProgram("plain", { path: path("tools") }), undefined);
  assert.equal(findProgram("none", { path: path("tools") }), undefined);
  assert.equal(findProgram("tool", { path: "" }), undefined);
});

test("a program of the project is not taken, whatever links lead to it", posix, (t) => {
  const { at, path } = folders(t);
  // the folder on PATH is a link, the program is a link, and the project is named through a link
  const planted = path("project/bin", "named/bin", "links");
  for (const project of [at("project"), at("named"), `${at("named")}/`]) {
    assert.equal(findProgram("tool", { path: planted, outside: [project] }), undefined, project);
    const both = `${planted}${delimiter}${path("tools")}`;
    assert.equal(findProgram("tool", { path: both, outside: [project] }), at("tools/tool"));
  }
});

test("relative folders and paths count where there is a folder for them", posix, (t) => {
  const { at } = folders(t);
  assert.equal(findProgram("tool", { path: `tools${delimiter}` }), undefined);
  assert.equal(findProgram("tool", { path: "tools", cwd: at(".") }), at("tools/tool"));
  assert.equal(findProgram("tool", { path: "", cwd: at("tools") }), at("tools/tool"));
  assert.equal(findProgram("./tool", { path: "/nowhere", cwd: at("tools") }), at("tools/tool"));
  assert.equal(findProgram(at("tools/tool"), { path: "/nowhere" }), at("tools/tool"));
});
