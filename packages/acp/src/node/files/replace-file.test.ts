import assert from "node:assert/strict";
import fs, {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { replaceFile, replaceFileSync } from "@parley/acp/node";

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-replace-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const ways = [
  ["replaceFile", replaceFile],
  ["replaceFileSync", async (...given: Parameters<typeof replaceFileSync>) => replaceFileSync(...given)],
] as const;

for (const [name, replace] of ways) {
  test(`${name}: a file has its old content or the new one, and only its owner reads it`, async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "state.json");
    await replace(path, "one");
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const reader = fs.openSync(path, "r");
    await replace(path, Buffer.from("two"), { flush: false });
    assert.equal(readFileSync(reader, "utf8"), "one", "whoever reads the old file reads all of it");
    fs.closeSync(reader);
    assert.equal(readFileSync(path, "utf8"), "two");
    assert.deepEqual(readdirSync(folder), ["state.json"]);
  });

  test(`${name}: a write that fails leaves the old file, and nothing beside it`, async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "state.json");
    writeFileSync(path, "old");
    const rename = t.mock.method(fs, "renameSync", () => {
      throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    });
    syncBuiltinESMExports();
    try {
      await assert.rejects(replace(path, "new"), { code: "ENOSPC" });
    } finally {
      rename.mock.restore();
      syncBuiltinESMExports();
    }
    assert.equal(readFileSync(path, "utf8"), "old");
    assert.deepEqual(readdirSync(folder), ["state.json"]);
  });

  test(`${name}: a link is replaced, and what it leads to stays`, async (t) => {
    const folder = temporaryFolder(t);
    const [target, path] = [join(folder, "target"), join(folder, "link")];
    writeFileSync(target, "mine");
    symlinkSync(target, path);
    await replace(path, "new");
    assert.equal(readFileSync(target, "utf8"), "mine");
    assert.equal(lstatSync(path).isSymbolicLink(), false);
  });
}

test("two processes that write one file at once never mix their contents", async (t) => {
  const path = join(temporaryFolder(t), "state");
  const contents = ["a", "b", "c", "d"].map((letter) => letter.repeat(3_000_000));
  await Promise.all(contents.map((each) => replaceFile(path, each)));
  assert.ok(contents.includes(readFileSync(path, "utf8")));
});

test("a new file is refused where one is, also one that was made at the last moment", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "new");
  const check = () => writeFileSync(path, "faster");
  await assert.rejects(replaceFile(path, "slower", { onlyNew: true, check }), { code: "EEXIST" });
  assert.equal(readFileSync(path, "utf8"), "faster");
  assert.deepEqual(readdirSync(folder), ["new"]);
});

test("a check that throws leaves the file, and a link can be written like a content", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "file");
  writeFileSync(path, "old");
  const check = async () => assert.fail("it was changed");
  await assert.rejects(replaceFile(path, "new", { check }), /it was changed/);
  assert.equal(readFileSync(path, "utf8"), "old");
  await replaceFile(Buffer.from(path), { linkTo: "elsewhere" });
  assert.equal(readlinkSync(path), "elsewhere");
  assert.deepEqual(readdirSync(folder), ["file"]);
});

test("folders of a file of the program are made for its owner alone", (t) => {
  const folder = temporaryFolder(t);
  replaceFileSync(join(folder, "a/b/state"), "x");
  assert.equal(statSync(join(folder, "a/b")).mode & 0o777, 0o700);
});

test("a file that must be new appears with its content, and one that is there stays", (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "key");
  replaceFileSync(path, "first", { onlyNew: true });
  assert.throws(() => replaceFileSync(path, "second", { onlyNew: true }), { code: "EEXIST" });
  assert.equal(readFileSync(path, "utf8"), "first");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ["key"]);
});
