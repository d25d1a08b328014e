import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeExport } from "./write-export.ts";

test("an export to a file that exists says so and leaves the file alone", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "parley-export-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  const path = await writeExport("a.md", { cwd, exported: async () => "first" });
  await assert.rejects(writeExport("a.md", { cwd, exported: async () => "second" }), {
    message: `${path} exists already: name another file`,
  });
  assert.equal(await readFile(path, "utf8"), "first");
});
