// What is remembered of agents that did something without asking.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { brokenBy, noteBroken } from "./never-asks.ts";

test("what is noted after a line that a kill cut off is not lost", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-never-asks-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [one, two] = [1, 2].map((version) => ({ command: "a", version: String(version) }));
  assert.ok(one && two);
  noteBroken(folder, one, "deny exec rm");
  writeFileSync(join(folder, "never-asks.ndjson"), '{"command":"b","vers', { flag: "a" });
  noteBroken(folder, two, "deny exec ls");
  assert.equal(brokenBy(folder, one), "deny exec rm");
  assert.equal(brokenBy(folder, two), "deny exec ls");
});
