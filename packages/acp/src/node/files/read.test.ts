import assert from "node:assert/strict";
import { linkSync, mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { descents, refusal, scratch, secret } from "../../../test/support/scratch-workspace.ts";
import { type LocalFiles, localFiles, localFilesWith } from "./local-files.ts";

const posix = { skip: process.platform === "win32" ? "needs POSIX files" : false, timeout: 60_000 };

for (const [way, access] of descents) {
  const named = (behaviour: string) => `${behaviour}, by ${way}`;

  test(named("a file below the root is read"), async (t) => {
    const { files, put } = scratch(t, access);
    assert.equal(await files.readText(put("src/deep/a.txt", "one\ntwo\n")), "one\ntwo\n");
  });

  test(
    named("a path that is none is refused before anything is opened (N137, N138, N139, N140, N160, N161)"),
    async (t) => {
      const { files, at } = scratch(t, access);
      const paths = ["a/b", "", "~/x", "file:///w/x", at("a\0b"), at("x/".repeat(2500)), at("a".repeat(256))];
      for (const path of paths) {
        assert.equal((await refusal(files.readText(path))).code, -32602);
        assert.equal((await refusal(files.writeText(path, "x"))).code, -32602);
        assert.equal((await refusal(files.stat(path))).code, -32602);
      }
    },
  );

  test(
    named("parent directories in a path are fine as long as it stays inside (N141, N142, N144)"),
    async (t) => {
      const { files, put, root } = scratch(t, access);
      put("b", "here");
      put("..ok", "dots");
      assert.equal(await files.readText(`${root}/a/../b`), "here");
      assert.equal(await files.readText(`${root}/..ok`), "dots");
      const found = await refusal(files.readText(`${root}/../outside/secret`));
      assert.deepEqual([found.code, found.reason], [-32061, "outside_workspace"]);
      assert.equal((await refusal(files.readText(`${root}/../../../../etc/passwd`))).code, -32061);
    },
  );

  test(named("a directory whose name only starts like the root is outside (N143)"), async (t) => {
    const { files, root } = scratch(t, access);
    const path = `${root}-evil/x`;
    const found = await refusal(files.readText(path));
    assert.equal(found.code, -32061);
    assert.equal(found.file, path);
    assert.equal(found.message, `"${path}" is outside the workspace; use a path below "${root}"`);
    assert.equal((await refusal(files.writeText(path, "x"))).code, -32061);
  });

  test(
    named("links that lead outside are refused, and where they lead is not told (N145, N146)"),
    posix,
    async (t) => {
      const { files, at, outside } = scratch(t, access);
      symlinkSync(join(outside, "secret"), at("file"));
      symlinkSync(outside, at("dir"));
      symlinkSync("../outside", at("relative"));
      symlinkSync("dir", at("twice"));
      symlinkSync(join(outside, "missing"), at("gone"));
      for (const path of ["file", "dir/secret", "relative/secret", "twice/secret", "gone"].map(at)) {
        for (const work of [files.readText(path), files.stat(path), files.writeText(path, "x")]) {
          const found = await refusal(work);
          assert.deepEqual([found.code, found.file], [-32061, path]);
          assert.doesNotMatch(found.message, /outside\//);
        }
      }
    },
  );

  test(named("forty links in a chain are followed, forty-one are not (N147)"), posix, async (t) => {
    const { files, put, at } = scratch(t, access);
    put("0", "found");
    for (let index = 1; index <= 41; index += 1) symlinkSync(String(index - 1), at(String(index)));
    assert.equal(await files.readText(at("40")), "found");
    assert.equal((await refusal(files.readText(at("41")))).code, -32061);
    assert.equal((await refusal(files.writeText(at("41"), "x"))).code, -32061);
  });

  test(named("links in a loop are refused (N148)"), posix, async (t) => {
    const { files, at } = scratch(t, access);
    symlinkSync("b", at("a"));
    symlinkSync("a", at("b"));
    symlinkSync("self/x", at("self"));
    for (const path of ["a", "b/x", "self"].map(at)) {
      assert.equal((await refusal(files.readText(path))).code, -32061);
      assert.equal((await refusal(files.writeText(path, "x"))).code, -32061);
    }
  });

  test(named("reading through a link to nothing finds nothing"), posix, async (t) => {
    const { files, at } = scratch(t, access);
    symlinkSync("missing", at("link"));
    const found = await refusal(files.readText(at("link")));
    assert.deepEqual([found.code, found.reason], [-32002, "not_found"]);
  });

  test(named("links that stay inside are followed, however they are written (N150)"), posix, async (t) => {
    const { files, put, at, root, outside } = scratch(t, access);
    put("real/sub/a", "found");
    put("other/a", "wrong");
    mkdirSync(at("links"));
    const targets = {
      relative: "../real/sub/a",
      absolute: join(root, "real/sub/a"),
      // Out of the root and back in by its name.
      around: `../../${root.split("/").at(-1)}/real/sub/a`,
      "further around": `../../../${root.split("/").slice(-2).join("/")}/real/sub/a`,
      "around from the top": `${outside}/../w/real/sub/a`,
      dots: `${root}/./other/../real//sub/a`,
      // To the system `dir/..` is the parent of where `dir` leads, not `links`.
      "through a link": "dir/../sub/a",
    };
    symlinkSync("../real/sub", at("links/dir"));
    for (const [name, target] of Object.entries(targets)) {
      symlinkSync(target, at(`links/${name}`));
      assert.equal(await files.readText(at(`links/${name}`)), "found", name);
    }
    assert.equal(await files.readText(at("links/dir/a")), "found");
    symlinkSync(".", at("here"));
    symlinkSync("..", at("links/up"));
    assert.equal((await files.stat(at("here"))).kind, "directory");
    assert.equal(await files.readText(at("here/here/links/up/real/sub/a")), "found");
    assert.equal((await files.stat(at("links/up/"))).kind, "directory");
  });

  test(named("links that multiply take bounded time (TH17)"), posix, async (t) => {
    const { files, at } = scratch(t, access);
    mkdirSync(at("d"));
    for (let index = 0; index < 35; index += 1) {
      symlinkSync(
        Array(60)
          .fill(index === 0 ? "d/.." : `l${index - 1}`)
          .join("/"),
        at(`l${index}`),
      );
    }
    const found = await refusal(files.readText(at("l34/x")));
    assert.ok(found.code === -32061 || found.code === -32063, String(found.code));
  });

  test(named("a root reached by a link works by both names (N151)"), posix, async (t) => {
    const { root, put, at, outside } = scratch(t, access);
    put("a", "found");
    symlinkSync(root, join(outside, "..", "alias"));
    const alias = join(root, "..", "alias");
    const files = localFilesWith(access, { roots: [alias] });
    t.after(() => files.close());
    assert.equal(await files.readText(join(alias, "a")), "found");
    assert.equal(await files.readText(at("a")), "found");
    await files.writeText(join(alias, "a"), "by alias");
    assert.equal(await files.readText(at("a")), "by alias");
    symlinkSync(alias, at("self"));
    assert.equal(await files.readText(at("self/a")), "by alias");
  });

  test(named("several roots are one workspace; the same directory twice is one root (N151)"), async (t) => {
    const { root, put, outside } = scratch(t, access);
    put("a", "one");
    const files = localFilesWith(access, { roots: [root, outside, join(root, ".", "x", ".."), root] });
    t.after(() => files.close());
    assert.equal(await files.readText(join(root, "a")), "one");
    assert.equal(await files.readText(join(outside, "secret")), secret);
    if (process.platform === "win32") return;
    symlinkSync("../outside/secret", join(root, "link"));
    assert.equal(await files.readText(join(root, "link")), secret);
  });

  test(named("a root must be an absolute path of a directory"), async (t) => {
    const { root, put } = scratch(t, access);
    const file = put("a", "");
    const codeFor = (roots: readonly string[]) => refusal((async () => localFilesWith(access, { roots }))());
    assert.equal((await codeFor([])).code, -32602);
    assert.equal((await codeFor(["w"])).code, -32602);
    assert.equal((await codeFor([file])).code, -32602);
    const missing = join(root, "missing");
    assert.deepEqual(await codeFor([root, missing]), {
      code: -32002,
      reason: "not_found",
      file: missing,
      message: `cannot read "${missing}": ENOENT, no such file or directory`,
    });
    assert.throws(() => localFilesWith(access, { roots: [root], maxReadBytes: 0 }), /maxReadBytes/);
  });

  test(named("a file with other names is read, and the reader is told (N152)"), posix, async (t) => {
    const { files, put, at } = scratch(t, access);
    put("a", "text");
    assert.equal((await files.read(at("a"))).links, 1);
    linkSync(at("a"), at("b"));
    const { text, links } = await files.read(at("b"));
    assert.deepEqual([text, links], ["text", 2]);
    assert.equal((await files.stat(at("b"))).links, 2);
  });

  test(named("a socket and a directory are answered at once (N157, N158)"), posix, async (t) => {
    const { files, at, root } = scratch(t, access);
    mkdirSync(at("dir"));
    const server = createServer().listen(at("socket"));
    await new Promise((ready) => server.once("listening", ready));
    t.after(() => server.close());
    for (const path of [at("socket"), at("dir"), `${at("dir")}/`, root, `${root}/`]) {
      for (const work of [files.readText(path), files.readBytes(path), files.writeText(path, "x")]) {
        const found = await refusal(work);
        assert.deepEqual([found.code, found.reason, found.file], [-32602, "not_a_file", path]);
      }
    }
    assert.equal((await files.stat(at("socket"))).kind, "other");
  });

  // Here and below, files of the system are only read: the day a check breaks, a test that writes would
  // replace a device or a password file of the machine it runs on.
  test(
    named("devices, /proc and the system are outside, by name and by link (N155, N156)"),
    posix,
    async (t) => {
      const { files, at } = scratch(t, access);
      symlinkSync("../../../../../../../../etc", at("etc"));
      symlinkSync("/proc/self/root", at("magic"));
      for (const [index, path] of ["/dev/zero", "/proc/self/environ", "/dev/stdin"].entries()) {
        symlinkSync(path, at(`link${index}`));
        assert.equal((await refusal(files.readText(path))).code, -32061);
        assert.equal((await refusal(files.readText(at(`link${index}`)))).code, -32061);
      }
      for (const path of ["etc/passwd", "magic/etc/passwd"].map(at)) {
        const found = await refusal(files.readText(path));
        assert.deepEqual([found.code, found.file], [-32061, path]);
        assert.doesNotMatch(found.message, /passwd.*passwd|\/proc/);
      }
    },
  );

  test(named("a device below a root is not opened (N155)"), posix, async (t) => {
    const { root } = scratch(t, access);
    const files = localFilesWith(access, { roots: ["/dev", root] });
    t.after(() => files.close());
    assert.equal((await refusal(files.readText("/dev/zero"))).code, -32602);
  });

  test(named("a file of /proc that says it is empty is read"), {
    skip: process.platform === "linux" ? false : "needs /proc",
  }, async (t) => {
    const { root } = scratch(t, access);
    const files = localFilesWith(access, { roots: ["/proc", root] });
    t.after(() => files.close());
    assert.match(await files.readText(`/proc/${process.pid}/status`), /^Name:/);
  });

  test(named("a sparse file of 10 GiB is refused without reading it (N159)"), posix, async (t) => {
    const { files, put, at } = scratch(t, access);
    truncateSync(put("big", ""), 10 * 1024 ** 3);
    for (const work of [
      files.readText(at("big")),
      files.readBytes(at("big")),
      files.readText(at("big"), { limit: 1 }),
    ]) {
      const found = await refusal(work);
      assert.deepEqual([found.code, found.reason], [-32063, "limit_exceeded"]);
    }
    assert.equal((await files.stat(at("big"))).size, 10 * 1024 ** 3);
    await files.writeText(at("big"), "small again");
    assert.equal(await files.readText(at("big")), "small again");
  });

  test(named("the limit is the last size that is read"), async (t) => {
    const { files, put } = scratch(t, access, { maxReadBytes: 1000 });
    assert.equal((await files.readText(put("a", "x".repeat(1000)))).length, 1000);
    assert.equal((await refusal(files.readText(put("b", "x".repeat(1001))))).code, -32063);
  });

  test(named("a large file is read whole"), async (t) => {
    const { files, put } = scratch(t, access);
    const text = "0123456789abcdé\n".repeat(200_000);
    assert.equal((await files.readText(put("a", text))) === text, true);
    assert.equal(Buffer.from(await files.readBytes(put("a", text))).equals(Buffer.from(text)), true);
  });

  test(named("unusual names are plain names (N162, N167, N171, N173, N174, N175)"), posix, async (t) => {
    const { files, at } = scratch(t, access);
    const names = [
      "a\nb",
      "%2e%2e",
      "x:stream",
      "C:rel",
      "CON",
      "\\\\host\\share",
      "GIT~1\\hooks",
      "dot.",
      "space ",
      "-rf",
    ];
    for (const name of names) {
      await files.writeText(at(name), `in ${name}`);
      assert.equal(await files.readText(at(name)), `in ${name}`);
    }
    assert.match((await refusal(files.readText(at("no\nfile")))).message, /no\\nfile/);
    // Two files or one, as the file system says: what is written by a name is read by it.
    await files.writeText(at("caf\u00e9"), "composed");
    await files.writeText(at("cafe\u0301"), "decomposed");
    const one = await files.readText(at("caf\u00e9"));
    assert.equal(one, process.platform === "darwin" ? "decomposed" : "composed");
    assert.equal(await files.readText(at("cafe\u0301")), "decomposed");
  });

  test(
    named("line 0 is line 1, past the end is nothing, limit 0 is nothing (N176, N177, N178)"),
    async (t) => {
      const { files, put } = scratch(t, access);
      const path = put("a", "one\r\ntwo\nthree");
      const read = (line?: number, limit?: number) =>
        files.readText(path, {
          ...(line === undefined ? {} : { line }),
          ...(limit === undefined ? {} : { limit }),
        });
      assert.equal(await read(0), "one\r\ntwo\nthree");
      assert.equal(await read(0, 1), "one\r\n");
      assert.equal(await read(1, 1), "one\r\n");
      assert.equal(await read(2, 1), "two\n");
      assert.equal(await read(3), "three");
      assert.equal(await read(2, 99), "two\nthree");
      assert.equal(await read(4), "");
      assert.equal(await read(1e9, 1e9), "");
      assert.equal(await read(1, 0), "");
      assert.equal(await read(undefined, 2), "one\r\ntwo\n");
      for (const bad of [-1, 1.5, Number.NaN, Infinity]) {
        assert.equal((await refusal(read(bad))).code, -32602);
        assert.equal((await refusal(read(1, bad))).code, -32602);
      }
    },
  );

  test(named("a byte order mark is not part of the text"), async (t) => {
    const { files, put } = scratch(t, access);
    assert.equal(await files.readText(put("a", "\ufefftext \ufeff")), "text \ufeff");
  });

  test(named("a file that is not UTF-8 is refused as text and read as bytes (N179)"), async (t) => {
    const { files, put } = scratch(t, access);
    const bad = [
      [0xff, 0xfe, 0x41, 0],
      [0x63, 0xe9],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
      [0xf0, 0x9f, 0x98],
    ];
    for (const bytes of bad) {
      const path = put("a", Uint8Array.from(bytes));
      const found = await refusal(files.readText(path));
      assert.deepEqual([found.code, found.reason, found.file], [-32062, "not_text", path]);
      assert.deepEqual([...(await files.readBytes(path))], bytes);
    }
  });

  test(named("a missing file can be told from every other failure"), async (t) => {
    const { files, put, at } = scratch(t, access);
    put("file", "");
    const found = await refusal(files.readText(at("missing")));
    assert.deepEqual(found, {
      code: -32002,
      reason: "not_found",
      file: at("missing"),
      message: `cannot find ${JSON.stringify(at("missing"))}: ENOENT, no such file or directory`,
    });
    assert.equal((await refusal(files.readText(at("no/such/dir")))).code, -32002);
    assert.equal((await refusal(files.stat(at("missing")))).code, -32002);
    assert.equal((await refusal(files.readText(at("file/x")))).reason, "not_a_directory");
    assert.equal((await refusal(files.stat(`${at("file")}/`))).reason, "not_a_directory");
  });

  test(named("aborting rejects a read"), async (t) => {
    const { files, put } = scratch(t, access);
    const path = put("a", "x".repeat(3_000_000));
    await assert.rejects(files.readText(path, { signal: AbortSignal.abort() }), { kind: "aborted" });
    const controller = new AbortController();
    const reading = files.readText(path, { signal: controller.signal });
    controller.abort();
    await assert.rejects(reading, { name: "ConnectionError", kind: "aborted" });
  });

  test(named("closing waits for what is under way and refuses the rest"), async (t) => {
    const { files, put, at } = scratch(t, access);
    const text = "x".repeat(3_000_000);
    const reading = files.readText(put("a", text));
    const writing = files.writeText(at("b"), text);
    const closing = files.close();
    assert.equal((await refusal(files.readText(at("a")))).code, -32067);
    assert.equal((await reading) === text, true);
    await writing;
    await closing;
    await files.close();
    assert.equal((await refusal(files.stat(at("b")))).reason, "unavailable");
  });
}

test("a root stays the directory it was when its path comes to mean another one", {
  skip: process.platform === "linux" ? false : "needs descriptors",
}, async (t) => {
  const { root, put, outside } = scratch(t, descents[0]![1]);
  put("secret", "inside");
  const files = localFiles({ roots: [root] });
  t.after(() => files.close());
  renameSync(root, `${root}.old`);
  symlinkSync(outside, root);
  assert.equal(await files.readText(join(root, "secret")), "inside");
  await files.writeText(join(root, "new"), "also inside");
  renameSync(root, `${root}.link`);
  renameSync(`${root}.old`, root);
  assert.equal(await files.readText(join(root, "new")), "also inside");
  writeFileSync(join(root, "new"), "");
});

test("files that are disposed of are closed", async (t) => {
  const [[, access] = assert.fail()] = descents;
  const { root, put } = scratch(t, access);
  const path = put("a.txt", "a");
  let left: LocalFiles;
  {
    await using files = localFiles({ roots: [root] });
    left = files;
    assert.equal(await files.readText(path), "a");
  }
  assert.equal((await refusal(left.readText(path))).reason, "unavailable");
});
