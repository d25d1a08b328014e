// What needs a second process, or another user: pipes, files that the system protects, readers and a
// murderer of the writer.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { descents, refusal, type Scratch, scratch } from "../../../test/support/scratch-workspace.ts";

const posix = { skip: process.platform === "win32" ? "needs POSIX files" : false, timeout: 60_000 };
const best = descents[0]![1];

for (const [way, access] of descents) {
  test(
    `a pipe is answered at once, and a writer that waits for it goes on waiting (N154), by ${way}`,
    posix,
    async (t) => {
      const { files, at, list } = scratch(t, access);
      execFileSync("/bin/sh", ["-c", 'mkfifo "$0"', at("pipe")]);
      symlinkSync("pipe", at("link"));
      const writer = spawn("/bin/sh", ["-c", 'echo started; echo x > "$0"; echo woken', at("pipe")]);
      t.after(() => writer.kill("SIGKILL"));
      let said = "";
      writer.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      await once(writer.stdout, "data");
      for (const path of ["pipe", "link"].map(at)) {
        for (const work of [files.readText(path), files.readBytes(path), files.writeText(path, "x")]) {
          const found = await refusal(work);
          assert.deepEqual([found.code, found.reason, found.file], [-32602, "not_a_file", path]);
        }
      }
      assert.equal(said, "started\n");
      assert.deepEqual(list(), ["link", "pipe"]);
    },
  );
}

test("a device is not written (N155)", {
  ...posix,
  skip: process.platform === "linux" && process.getuid?.() === 0 ? false : "only root makes devices",
}, async (t) => {
  const { files, at } = scratch(t, best);
  // Like /dev/null, but ours: see read.test.ts.
  execFileSync("/bin/sh", ["-c", 'mknod "$0" c 1 3', at("null")]);
  assert.equal((await refusal(files.writeText(at("null"), "x"))).reason, "not_a_file");
  assert.equal(statSync(at("null")).isCharacterDevice(), true);
});

test("no descriptor stays open, whatever the answer was", {
  ...posix,
  skip: process.platform === "linux" ? false : "needs /proc",
}, async (t) => {
  const { files, put, at, outside } = scratch(t, best, { maxReadBytes: 1000 });
  put("a/b/file", "text");
  put("a/large", "x".repeat(2000));
  put("a/bytes", Uint8Array.of(0xff));
  symlinkSync(outside, at("a/out"));
  symlinkSync("loop", at("a/loop"));
  symlinkSync("../a/b/file", at("a/in"));
  symlinkSync("nothing", at("a/dangling"));
  const names = [
    "b/file",
    "large",
    "bytes",
    "out/x",
    "loop",
    "in",
    "dangling",
    "b",
    "b/file/x",
    "no/such",
    ".",
  ];
  const round = async () => {
    const signal = AbortSignal.abort();
    for (const path of names.map((name) => `${at("a")}/${name}`)) {
      const work = [
        files.readText(path),
        files.readBytes(path),
        files.stat(path),
        files.readText(path, { signal }),
        files.writeText(path, "text"),
        files.writeText(path, "text", { expected: "another version" }),
        files.writeText(path, "text", { expected: "absent" }),
      ];
      await Promise.allSettled(work);
    }
  };
  await round();
  const before = readdirSync("/proc/self/fd").length;
  for (let count = 0; count < 5; count += 1) await round();
  assert.equal(readdirSync("/proc/self/fd").length, before);
  await files.close();
  assert.equal(readdirSync("/proc/self/fd").length, before - 1);
});

test("a directory that is removed while a file is written in it is a conflict", posix, async (t) => {
  const { files, at } = scratch(t, best);
  const results: number[] = [];
  for (let count = 0; count < 20; count += 1) {
    const writing = files.writeText(at("dir/file"), "x".repeat(2_000_000), { expected: "any" });
    rmSync(at("dir"), { recursive: true, force: true });
    results.push((await refusal(writing)).code);
  }
  assert.deepEqual([...new Set(results)], [-32066]);
});

/** Runs a check as a user whom the system may refuse something: root it refuses nothing. */
async function asOrdinaryUser(t: TestContext, { root }: Scratch, work: string): Promise<string> {
  const isRoot = process.getuid?.() === 0;
  chmodSync(dirname(root), 0o755);
  if (isRoot) chownSync(root, 65534, 65534);
  const module = new URL("./local-files.ts", import.meta.url).href;
  const script = `
    ${isRoot ? "process.setgroups([]); process.setgid(65534); process.setuid(65534);" : ""}
    const files = localFiles({ roots: [root] });
    const codeOf = (work) => work.then(() => "ok", (error) => error.data.reason + " " + error.code);
    process.stdout.write(JSON.stringify(await (${work})(files, root, codeOf)));
  `;
  // The module is loaded while the process may still read everything.
  const program = `import { localFiles } from ${JSON.stringify(module)}; const root = process.argv[1]; ${script}`;
  const child = spawn(
    process.execPath,
    ["--conditions=parley-source", "--input-type=module", "-e", program, root],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await once(child, "close");
  return said;
}

test("what the system does not permit is refused as that", posix, async (t) => {
  const workspace = scratch(t, best);
  const { put, at, get } = workspace;
  chmodSync(put("unreadable", "x"), 0o000);
  chmodSync(put("read-only", "old"), 0o444);
  put("closed/file", "x");
  put("frozen/file", "x");
  put("passage/file", "reached");
  chmodSync(at("closed"), 0o000);
  chmodSync(at("frozen"), 0o555);
  chmodSync(at("passage"), 0o711);
  const said = await asOrdinaryUser(
    t,
    workspace,
    `async (files, root, codeOf) => ({
      unreadable: await codeOf(files.readText(root + "/unreadable")),
      closed: await codeOf(files.readText(root + "/closed/file")),
      readOnly: await codeOf(files.writeText(root + "/read-only", "new")),
      frozen: await codeOf(files.writeText(root + "/frozen/new", "x")),
      directory: await codeOf(files.writeText(root + "/frozen/sub/new", "x")),
      passage: await files.readText(root + "/passage/file"),
    })`,
  );
  for (const path of ["closed", "frozen", "passage"]) chmodSync(at(path), 0o755);
  assert.deepEqual(JSON.parse(said), {
    unreadable: "permission_denied -32060",
    closed: "permission_denied -32060",
    readOnly: "permission_denied -32060",
    frozen: "permission_denied -32060",
    directory: "permission_denied -32060",
    passage: "reached",
  });
  assert.equal(get("read-only"), "old");
});

test("the owner of a file is kept where the system lets us", {
  ...posix,
  skip: process.getuid?.() === 0 ? false : "only root gives files away",
}, async (t) => {
  const { files, put, at } = scratch(t, best);
  chownSync(put("a", "old"), 65534, 65533);
  chmodSync(at("a"), 0o640);
  await files.writeText(at("a"), "new");
  const { uid, gid, mode } = statSync(at("a"));
  assert.deepEqual([uid, gid, mode & 0o777], [65534, 65533, 0o640]);
});

const writer = `
  const { localFiles } = await import(process.argv[2]);
  const files = localFiles({ roots: [process.argv[1]] });
  process.stdout.write("writing");
  for (let turn = 0; ; turn += 1) {
    await files.writeText(process.argv[1] + "/a", String(turn % 10).repeat(300_000));
  }
`;

function startWriter(t: TestContext, root: string) {
  const module = new URL("./local-files.ts", import.meta.url).href;
  const child = spawn(
    process.execPath,
    ["--conditions=parley-source", "--input-type=module", "-e", writer, root, module],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  t.after(() => child.kill("SIGKILL"));
  return child;
}

function isWhole(text: string): boolean {
  return text.length === 300_000 && text === text.charAt(0).repeat(300_000);
}

test("a reader never sees a part of a file that is being written", posix, async (t) => {
  const { files, put, at, root } = scratch(t, best, { expectUnchanged: false });
  put("a", "x".repeat(300_000));
  const child = startWriter(t, root);
  await once(child.stdout, "data");
  const seen = new Set<string>();
  let reads = 0;
  const deadline = performance.now() + 30_000;
  while ((reads < 300 || seen.size < 5) && performance.now() < deadline) {
    const text = reads % 2 === 0 ? readFileSync(at("a"), "utf8") : await files.readText(at("a"));
    assert.ok(
      isWhole(text),
      `a part: ${text.length} characters, from ${text.slice(0, 5)} to ${text.slice(-5)}`,
    );
    seen.add(text.charAt(0));
    reads += 1;
  }
  assert.ok(seen.size >= 5, `the writer got only ${seen.size} versions through`);
  child.kill("SIGKILL");
  await once(child, "close");
  removeLeftovers(root);
});

test("a writer that is killed leaves the old or the new file, whole", posix, async (t) => {
  const { put, get, root } = scratch(t, best);
  put("a", "x".repeat(300_000));
  for (let round = 0; round < 5; round += 1) {
    const child = startWriter(t, root);
    await once(child.stdout, "data");
    while (get("a").startsWith("x")) await new Promise((next) => setImmediate(next));
    child.kill("SIGKILL");
    await once(child, "close");
    assert.ok(isWhole(get("a")));
    put("a", "x".repeat(300_000));
  }
  removeLeftovers(root);
});

/** A writer that is killed cannot clean up, and the fixture would complain. */
function removeLeftovers(root: string): void {
  for (const name of readdirSync(root)) if (name.startsWith(".parley-")) unlinkSync(join(root, name));
}
