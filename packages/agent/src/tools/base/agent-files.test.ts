import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Files } from "@parley/acp";
import { localFiles } from "@parley/acp/node";
import { SessionFiles } from "./agent-files.ts";
import { ToolError } from "./tool.ts";

const editors = {
  "no editor": undefined,
  "an editor that shows its text": { canRead: true, canWrite: false },
  "an editor that takes writes": { canRead: false, canWrite: true },
  "an editor that does both": { canRead: true, canWrite: true },
};

/** Files of a folder with one file `a`, of which `save` is called while the sandbox is told of a write. */
function files(t: TestContext, editor: { canRead: boolean; canWrite: boolean } | undefined, shown?: string) {
  const folder = mkdtempSync(join(tmpdir(), "parley-agent-files-"));
  const path = join(folder, "a");
  const local = localFiles({ roots: [folder] });
  t.after(async () => {
    await Promise.all([local.close(), buffers.close()]);
    rmSync(folder, { recursive: true });
  });
  writeFileSync(path, "one\n");
  const saves = { during: () => {} };
  const buffers = localFiles({ roots: [folder], expectUnchanged: false });
  const client: Files | undefined = editor && {
    ...editor,
    readText: (at, options) => (shown === undefined ? buffers.readText(at, options) : Promise.resolve(shown)),
    writeText: (at, content, options) => buffers.writeText(at, content, options),
  };
  const session = new SessionFiles(
    local,
    client,
    () => undefined,
    async () => saves.during(),
  );
  return { session, path, saves, get: () => readFileSync(path, "utf8") };
}

for (const [name, editor] of Object.entries(editors)) {
  test(`a save of the user while a write waits for the sandbox is a conflict, with ${name}`, async (t) => {
    const { session, path, saves, get } = files(t, editor);
    const { version } = await session.read(path);
    saves.during = () => writeFileSync(path, "the user's\n");
    await assert.rejects(
      session.write(path, "the model's\n", { expected: version }),
      (error) => error instanceof ToolError && error.message.startsWith(`${path} has changed since`),
    );
    assert.equal(get(), "the user's\n");
  });

  test(`a file that the user makes or removes in the meantime is a conflict, with ${name}`, async (t) => {
    const { session, path, saves, get } = files(t, editor);
    const { version } = await session.read(path);
    saves.during = () => rmSync(path);
    await assert.rejects(session.write(path, "ours\n", { expected: version }), /has been removed since/);
    saves.during = () => writeFileSync(path, "the user's\n");
    await assert.rejects(session.write(path, "ours\n", { expected: "absent" }), /created in the meantime/);
    assert.equal(get(), "the user's\n");
  });

  test(`a write returns the version that a later read has, with ${name}`, async (t) => {
    const { session, path, get } = files(t, editor);
    const first = await session.write(path, "two\n", { expected: (await session.read(path)).version });
    assert.equal(first, (await session.read(path)).version);
    await session.write(path, "three\n", { expected: first });
    assert.equal(get(), "three\n");
  });
}

test("a file that changes on disk under the text of an editor that does not write is a conflict", async (t) => {
  const { session, path, get } = files(t, { canRead: true, canWrite: false }, "shown\n");
  const { text, version } = await session.read(path);
  assert.equal(text, "shown\n");
  writeFileSync(path, "saved\n");
  await assert.rejects(session.write(path, "ours\n", { expected: version }), /has changed since it was read/);
  assert.equal(get(), "saved\n");
});
