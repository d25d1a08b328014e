import assert from "node:assert/strict";
import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { descents, refusal, scratch } from "../../../test/support/scratch-workspace.ts";

const posix = { skip: process.platform === "win32" ? "needs POSIX files" : false, timeout: 60_000 };

for (const [way, access] of descents) {
  const named = (behaviour: string) => `${behaviour}, by ${way}`;

  test(named("a directory is listed by name, with links as links"), posix, async (t) => {
    const { files, root, put, at, outside } = scratch(t, access);
    put("b.txt", "b");
    put("a/deep.txt", "a");
    symlinkSync(outside, at("c"));
    assert.deepEqual(await files.list(root), [
      { name: "a", kind: "directory" },
      { name: "b.txt", kind: "file" },
      { name: "c", kind: "link" },
    ]);
    assert.equal((await refusal(files.list(at("b.txt")))).reason, "not_a_directory");
    assert.equal((await refusal(files.list(at("nothing")))).reason, "not_found");
    assert.equal((await refusal(files.list(at("c")))).code, -32061);
    assert.equal((await refusal(files.list(outside))).code, -32061);
  });

  test(named("a path is located where it leads, also what is not there yet"), posix, async (t) => {
    const { files, put, at, outside } = scratch(t, access);
    put("real/.env", "secret");
    symlinkSync(".env", at("real/notes"));
    symlinkSync("real", at("alias"));
    symlinkSync(outside, at("out"));
    assert.equal(await files.realPath(at("alias/notes")), at("real/.env"));
    assert.equal(await files.realPath(at("alias/new/deep/file")), at("real/new/deep/file"));
    assert.equal(await files.realPath(at("real/new")), at("real/new"));
    assert.equal((await refusal(files.realPath(at("out/secret")))).code, -32061);
    assert.equal((await refusal(files.realPath(join(outside, "secret")))).code, -32061);
  });

  test(
    named("a file, a link and an empty directory are removed, what a link leads to is not"),
    posix,
    async (t) => {
      const { files, put, at, outside, list } = scratch(t, access);
      put("a", "1");
      put("kept/b", "2");
      symlinkSync("kept", at("inside"));
      symlinkSync(outside, at("out"));
      symlinkSync("nothing", at("dangling"));
      mkdirSync(at("empty"));
      for (const name of ["a", "inside", "out", "dangling", "empty"]) await files.remove(at(name));
      assert.deepEqual(list(), ["kept", "kept/b"]);
    },
  );

  test(
    named("a directory with entries goes only when asked for, and links in it are not followed"),
    posix,
    async (t) => {
      const { files, put, at, outside, list } = scratch(t, access);
      put("d/x/y", "1");
      symlinkSync(outside, at("d/x/out"));
      const found = await refusal(files.remove(at("d")));
      assert.deepEqual([found.code, found.reason], [-32066, "conflict"]);
      await files.remove(at("d"), { recursive: true });
      assert.deepEqual(list(), []);
    },
  );

  test(named("roots and what is outside are not removed"), posix, async (t) => {
    const { files, root, at, outside } = scratch(t, access);
    symlinkSync(outside, at("out"));
    assert.equal((await refusal(files.remove(root, { recursive: true }))).code, -32602);
    assert.equal((await refusal(files.remove(outside, { recursive: true }))).code, -32061);
    assert.equal((await refusal(files.remove(at("out/secret")))).code, -32061);
    assert.equal((await refusal(files.remove(at("out/")))).code, -32061);
    assert.equal((await refusal(files.remove(at("nothing")))).reason, "not_found");
  });

  test(named("a move makes the directories it needs and replaces nothing"), posix, async (t) => {
    const { files, put, at, get, root, outside } = scratch(t, access);
    put("a", "1");
    put("taken", "2");
    await files.move(at("a"), at("new/deep/b"));
    assert.equal(get("new/deep/b"), "1");
    assert.equal((await refusal(files.move(at("new/deep/b"), at("taken")))).reason, "conflict");
    assert.equal(get("taken"), "2");
    assert.equal((await refusal(files.move(at("taken"), join(outside, "x")))).code, -32061);
    assert.equal((await refusal(files.move(join(outside, "secret"), at("x")))).code, -32061);
    assert.equal((await refusal(files.move(root, at("x")))).code, -32602);
    assert.equal((await refusal(files.move(at("new"), at("new/deep/inside")))).code, -32602);
    symlinkSync("taken", at("link"));
    await files.move(at("link"), at("moved"));
    assert.ok(lstatSync(at("moved")).isSymbolicLink());
    assert.equal(readlinkSync(at("moved")), "taken");
  });
}
