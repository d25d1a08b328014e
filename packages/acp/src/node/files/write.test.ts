import assert from "node:assert/strict";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { descents, refusal, scratch } from "../../../test/support/scratch-workspace.ts";

const posix = { skip: process.platform === "win32" ? "needs POSIX files" : false, timeout: 60_000 };

for (const [way, access] of descents) {
  const named = (behaviour: string) => `${behaviour}, by ${way}`;

  test(named("a new file is created with the directories it needs"), async (t) => {
    const { files, at, get, list } = scratch(t, access);
    const { isNew: created, version } = await files.write(at("a/b/c.txt"), "text\n");
    assert.equal(created, true);
    assert.equal(get("a/b/c.txt"), "text\n");
    assert.deepEqual(
      list(),
      ["a", "a/b", "a/b/c.txt"].map((path) => join(path)),
    );
    assert.equal((await files.read(at("a/b/c.txt"))).version, version);
    assert.equal((await files.write(at("a/b/c.txt"), "")).isNew, false);
    assert.equal(get("a/b/c.txt"), "");
  });

  test(
    named("a write that must not make directories makes none, and writes where there is one"),
    async (t) => {
      const { files, at, get, list } = scratch(t, access);
      const refused = await refusal(files.writeText(at("a/b.txt"), "text", { createDirectories: false }));
      assert.equal(refused.reason, "not_found");
      assert.deepEqual(list(), []);
      await files.writeText(at("b.txt"), "text", { createDirectories: false });
      assert.equal(get("b.txt"), "text");
    },
  );

  test(named("a write that must not replace leaves a file that exists as it is"), async (t) => {
    const { files, at, get, put } = scratch(t, access);
    put("old", "kept");
    const found = await refusal(files.writeText(at("old"), "new", { overwrite: false }));
    assert.deepEqual([found.reason, get("old")], ["conflict", "kept"]);
    await files.writeText(at("new"), "text", { overwrite: false });
    assert.equal(get("new"), "text");
  });

  test(named("text in another encoding is read and written as its bytes"), async (t) => {
    const { files, at } = scratch(t, access);
    const bytes = Buffer.from([0xff, 0x00, 0x80, 0x41]);
    await files.writeText(at("b"), bytes.toString("base64"), { encoding: "base64" });
    assert.deepEqual(Buffer.from(await files.readBytes(at("b"))), bytes);
    for (const encoding of ["base64", "hex", "latin1"] as const)
      assert.equal(await files.readText(at("b"), { encoding }), bytes.toString(encoding));
    await files.writeText(at("u"), "é\n€\n", { encoding: "utf-16le" });
    assert.equal(await files.readText(at("u"), { encoding: "utf-16le", line: 2 }), "€\n");
    assert.deepEqual(Buffer.from(await files.readBytes(at("u"))), Buffer.from("é\n€\n", "utf16le"));
    const reasons = await Promise.all([
      refusal(files.readText(at("b"), { encoding: "ascii" })),
      refusal(files.readText(at("b"), { encoding: "base64", line: 1 })),
      refusal(files.readText(at("b"), { encoding: "klingon" as never })),
      refusal(files.writeText(at("b"), "€", { encoding: "latin1" })),
      refusal(files.writeText(at("b"), "no base64!", { encoding: "base64" })),
    ]);
    assert.deepEqual(
      reasons.map(({ reason }) => reason),
      ["not_text", "invalid_argument", "invalid_argument", "invalid_argument", "invalid_argument"],
    );
  });

  test(named("writing through a link to nothing creates nothing (N149)"), posix, async (t) => {
    const { files, at, outside, list } = scratch(t, access);
    symlinkSync(join(outside, "new"), at("out"));
    symlinkSync("missing", at("in"));
    symlinkSync("missing-dir", at("dir"));
    symlinkSync("missing-dir/file", at("deep"));
    const before = list();
    for (const path of ["out", "in", "dir/file", "dir/more/file", "deep"].map(at)) {
      const found = await refusal(files.writeText(path, "x"));
      assert.deepEqual([found.code, found.file], [-32061, path]);
    }
    assert.deepEqual(list(), before);
  });

  test(named("writing through a link that stays inside writes its target (N150)"), posix, async (t) => {
    const { files, put, at, get } = scratch(t, access);
    put("real/a", "old");
    symlinkSync("real/a", at("link"));
    symlinkSync("real", at("dir"));
    await files.writeText(at("link"), "new");
    assert.equal(get("real/a"), "new");
    assert.equal(lstatSync(at("link")).isSymbolicLink(), true);
    await files.writeText(at("dir/sub/b"), "below");
    assert.equal(get("real/sub/b"), "below");
    symlinkSync("../w/real", at("around"));
    await files.writeText(at("around/new/c"), "below too");
    assert.equal(get("real/new/c"), "below too");
  });

  test(named("writing a file with other names leaves those as they are (N153)"), posix, async (t) => {
    const { files, at, outside, get } = scratch(t, access);
    linkSync(join(outside, "secret"), at("a"));
    await files.writeText(at("a"), "mine");
    assert.equal(get("a"), "mine");
    assert.equal(statSync(at("a")).nlink, 1);
    // The fixture checks that the outside name kept its content.
  });

  test(named("the mode of a file is kept, without the rights it lends"), posix, async (t) => {
    const { files, put, at } = scratch(t, access);
    for (const [mode, kept] of [
      [0o755, 0o755],
      [0o640, 0o640],
      [0o4755, 0o755],
    ] as const) {
      chmodSync(put("a", "old"), mode);
      await files.writeText(at("a"), "new", { expected: "any" });
      assert.equal(statSync(at("a")).mode & 0o7777, kept);
    }
    const { uid, gid } = statSync(at("a"));
    assert.deepEqual([uid, gid], [process.getuid?.(), process.getgid?.()]);
    const umask = process.umask();
    await files.writeText(at("new"), "");
    assert.equal(statSync(at("new")).mode & 0o777, 0o666 & ~umask);
  });

  test(named("a byte order mark comes back, and is not doubled"), async (t) => {
    const { files, put, at, get } = scratch(t, access);
    put("a", "\ufeffold\n");
    await files.writeText(at("a"), "new\n");
    assert.equal(get("a"), "\ufeffnew\n");
    await files.writeText(at("a"), "\ufeffown\n");
    assert.equal(get("a"), "\ufeffown\n");
    await files.writeText(at("b"), "plain");
    assert.equal(get("b"), "plain");
  });

  test(named("CRLF comes back where the old file had nothing else and the text has none"), async (t) => {
    const { files, put, at, get } = scratch(t, access);
    const written = async (old: string, text: string) => {
      put("a", old);
      await files.writeText(at("a"), text, { expected: "any" });
      return get("a");
    };
    assert.equal(await written("a\r\nb\r\n", "x\ny\n"), "x\r\ny\r\n");
    assert.equal(await written("a\r\nb\r\n", "x\r\ny\n"), "x\r\ny\n");
    assert.equal(await written("a\r\nb\n", "x\ny\n"), "x\ny\n");
    assert.equal(await written("one line", "x\ny\n"), "x\ny\n");
    assert.equal(await written("", "x\ny\n"), "x\ny\n");
    assert.equal(await written("\ufeffa\r\n", "x\n"), "\ufeffx\r\n");
  });

  test(named("a file that somebody changed since it was read is not overwritten (N180)"), async (t) => {
    const { files, put, at, get } = scratch(t, access);
    const path = put("a", "one");
    await files.readText(path);
    put("a", "two");
    const found = await refusal(files.writeText(path, "mine"));
    assert.deepEqual([found.code, found.reason, found.file], [-32066, "conflict", path]);
    assert.equal(
      found.message,
      `${JSON.stringify(path)} has changed since it was read; read it again, then write`,
    );
    assert.equal(get("a"), "two");
    assert.equal(await files.readText(path), "two");
    await files.writeText(path, "mine");
    await files.writeText(path, "mine again");
    put("a", "three");
    assert.equal((await refusal(files.writeText(path, "x"))).code, -32066);
    await files.writeText(path, "forced", { expected: "any" });
    assert.equal(get("a"), "forced");
    await files.writeText(at("never read"), "x");
  });

  test(
    named("a file that was only touched, or written with the same text, has not changed (N180)"),
    async (t) => {
      const { files, put, get } = scratch(t, access);
      const path = put("a", "one");
      await files.readText(path);
      unlinkSync(path);
      put("a", "one");
      await files.writeText(path, "mine");
      assert.equal(get("a"), "mine");
    },
  );

  test(named("the change is seen whichever name the file was read by (N180)"), posix, async (t) => {
    const { files, put, at } = scratch(t, access);
    put("real/a", "one");
    symlinkSync("real", at("link"));
    await files.readText(at("link/a"));
    put("real/a", "two");
    assert.equal((await refusal(files.writeText(at("real/a"), "x"))).code, -32066);
  });

  test(named("a file that was read and then removed may be created again"), async (t) => {
    const { files, put, get } = scratch(t, access);
    const path = put("a", "one");
    const { version } = await files.read(path);
    unlinkSync(path);
    assert.equal((await refusal(files.writeText(path, "x", { expected: version }))).code, -32066);
    await files.writeText(path, "again");
    assert.equal(get("a"), "again");
  });

  test(named("without expectUnchanged only what a write asks for is checked (N180)"), async (t) => {
    const { files, put, at, get } = scratch(t, access, { expectUnchanged: false });
    const path = put("a", "one");
    const { version } = await files.read(path);
    put("a", "two");
    assert.equal((await refusal(files.writeText(path, "x", { expected: version }))).code, -32066);
    await files.writeText(path, "mine");
    assert.equal(get("a"), "mine");
    const missing = await refusal(files.writeText(at("no/such/file"), "x", { expected: version }));
    assert.equal(missing.code, -32066);
  });

  test(named("of several writes against one version exactly one succeeds"), async (t) => {
    const { files, put, get } = scratch(t, access);
    const path = put("a", "one");
    const { version } = await files.read(path);
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const results = await Promise.allSettled(
      texts.map((text) => files.write(path, text, { expected: version })),
    );
    const winners = texts.filter((_, index) => results[index]?.status === "fulfilled");
    assert.deepEqual(winners, [get("a")]);
    for (const result of results) if (result.status === "rejected") assert.equal(result.reason.code, -32066);
  });

  test(named("of several that create one file exactly one succeeds"), async (t) => {
    const { files, at, get } = scratch(t, access);
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const results = await Promise.allSettled(
      texts.map((text) => files.write(at("dir/a"), text, { expected: "absent" })),
    );
    const winners = texts.filter((_, index) => results[index]?.status === "fulfilled");
    assert.deepEqual(winners, [get("dir/a")]);
    for (const result of results) if (result.status === "rejected") assert.equal(result.reason.code, -32066);
    assert.equal(
      (await refusal(files.writeText(at("dir/a"), "x", { expected: "absent" }))).reason,
      "conflict",
    );
  });

  test(named("writes of one caller at once all succeed, and the file is one of them"), async (t) => {
    const { files, put, get } = scratch(t, access);
    const path = put("a", "old");
    await files.readText(path);
    const texts = Array.from({ length: 30 }, (_, index) => String(index).repeat(10_000));
    await Promise.all(texts.map((text) => files.writeText(path, text)));
    assert.ok(texts.includes(get("a")));
  });

  test(named("a write that is aborted changes nothing and leaves nothing"), async (t) => {
    const { files, put, at, get, list } = scratch(t, access);
    const path = put("a", "old");
    const text = "x".repeat(5_000_000);
    await assert.rejects(files.writeText(path, text, { signal: AbortSignal.abort() }), { kind: "aborted" });
    for (const target of [path, at("new")]) {
      const controller = new AbortController();
      const writing = files.writeText(target, text, { signal: controller.signal });
      controller.abort();
      await assert.rejects(writing, { name: "ConnectionError", kind: "aborted" });
    }
    assert.equal(get("a"), "old");
    assert.deepEqual(list(), ["a"]);
  });

  test(named("a write that fails at the last moment leaves no temporary file"), async (t) => {
    const { files, at, list } = scratch(t, access);
    const writing = files.writeText(at("a"), "x".repeat(2_000_000));
    // The walk is done by now: the name becomes a directory under its feet.
    mkdirSync(at("a/full"), { recursive: true });
    const found = await refusal(writing);
    assert.ok(found.code === -32602 || found.code === -32066, found.message);
    assert.deepEqual(list(), ["a", join("a", "full")]);
  });

  test(named("a link put in place of the file meanwhile is replaced, not followed"), posix, async (t) => {
    const { files, put, at, outside, get } = scratch(t, access);
    put("a", "old");
    const writing = files.writeText(at("a"), "x".repeat(1_000_000));
    unlinkSync(at("a"));
    symlinkSync(join(outside, "secret"), at("a"));
    await writing;
    assert.equal(lstatSync(at("a")).isFile(), true);
    assert.equal(get("a").length, 1_000_000);
  });

  test(named("text that is not Unicode is refused before the file is touched"), async (t) => {
    const { files, put, get } = scratch(t, access);
    const path = put("a", "old");
    const found = await refusal(files.writeText(path, "bad \ud83d"));
    assert.deepEqual([found.code, found.reason], [-32602, "invalid_argument"]);
    assert.equal(get("a"), "old");
  });

  test(named("a name with a slash at its end is no name for a file"), async (t) => {
    const { files, at, list } = scratch(t, access);
    for (const path of [`${at("dir")}/`, `${at("dir")}/.`, `${at("dir")}/x/..`]) {
      assert.equal((await refusal(files.writeText(path, "x"))).reason, "not_a_file");
    }
    assert.deepEqual(list(), []);
  });
}

test("a directory swapped for a link while a file is written keeps the file inside", {
  skip: descents.length === 2 ? false : "needs descriptors",
}, async (t) => {
  const { files, at, root, outside, put } = scratch(t, descents[0]![1]);
  put("d/keep", "");
  const writing = files.writeText(at("d/a"), "x".repeat(2_000_000));
  renameSync(at("d"), at("moved"));
  symlinkSync(outside, at("d"));
  await writing;
  assert.equal(readFileSync(join(root, "moved", "a")).length, 2_000_000);
  assert.equal((await refusal(files.writeText(at("d/b"), "x"))).code, -32061);
  unlinkSync(at("d"));
  writeFileSync(at("d"), "");
});
