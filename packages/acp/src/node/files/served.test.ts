// Files of this machine as an agent sees them through a client: what must hold on the wire.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { agent, client, type Files, RequestError } from "../../index.ts";
import { memoryPair } from "../../transport.ts";
import { localFiles } from "./local-files.ts";

interface Served {
  readonly root: string;
  readonly extra: string;
  readonly outside: string;
}

/** Runs `work` in a turn of a version 1 agent, with the files of a client that serves the session's roots. */
async function served(t: TestContext, work: (files: Files, at: Served) => Promise<void>): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), "parley-served-"));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const at = { root: join(base, "work"), extra: join(base, "extra"), outside: join(base, "outside") };
  for (const directory of Object.values(at)) mkdirSync(directory);
  const [near, far] = memoryPair();
  let failure: unknown;
  agent({
    name: "a",
    version: "1",
    editions: ["v1"],
    async prompt(turn) {
      assert.ok(turn.client.files);
      await work(turn.client.files, at).catch((error: unknown) => {
        failure = error;
      });
    },
  }).connect(far);
  const connected = await client({
    name: "c",
    version: "1",
    files: (session) => localFiles({ roots: session.roots }),
  }).connect(near);
  const session = await connected.newSession({ cwd: at.root, additionalDirectories: [at.extra] });
  await session.prompt("go").result;
  await connected.close();
  if (failure !== undefined) throw failure;
}

async function refused(work: Promise<unknown>): Promise<{ code: number; data: unknown }> {
  const error = await work.then(
    () => assert.fail("it was accepted"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RequestError, String(error));
  return { code: error.code, data: error.data };
}

test("C18 Q1 the roots of the session are all that is served, whatever path or link leads elsewhere", (t) =>
  served(t, async (files, { root, extra, outside }) => {
    writeFileSync(join(extra, "b"), "extra");
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(outside, join(root, "link"));
    assert.equal(await files.readText(join(extra, "b")), "extra");
    for (const path of [join(outside, "secret"), `${root}/../outside/secret`, join(root, "link/secret")]) {
      const found = await refused(files.readText(path));
      assert.deepEqual(found, { code: -32061, data: { reason: "outside_workspace", file: path } });
      assert.equal((await refused(files.writeText(`${path}2`, "x"))).code, -32061);
    }
    assert.ok(!existsSync(join(outside, "secret2")));
  }));

test("C29 Q2 a write makes a missing file with its directories, and keeps byte order mark and line ends of an old one", (t) =>
  served(t, async (files, { root }) => {
    const made = join(root, "new/deep/file.txt");
    await files.writeText(made, "hello\n");
    assert.equal(readFileSync(made, "utf8"), "hello\n");
    const old = join(root, "old.txt");
    writeFileSync(old, "\ufeffone\r\ntwo\r\n");
    assert.equal(await files.readText(old), "one\r\ntwo\r\n");
    await files.writeText(old, "three\nfour\n");
    assert.equal(readFileSync(old, "utf8"), "\ufeffthree\r\nfour\r\n");
  }));

test("C30 a read takes the byte order mark off and returns all else as it is", (t) =>
  served(t, async (files, { root }) => {
    const path = join(root, "mixed.txt");
    writeFileSync(path, "\ufeffa\r\nb\nc\rd\t\u0000é\n\n");
    assert.equal(await files.readText(path), "a\r\nb\nc\rd\t\u0000é\n\n");
    assert.equal(await files.readText(path, { line: 2, limit: 1 }), "b\n");
    const missing = join(root, "missing.txt");
    assert.deepEqual(await refused(files.readText(missing)), {
      code: -32002,
      data: { reason: "not_found", file: missing },
    });
  }));
