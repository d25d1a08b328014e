import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gitBranch } from "./git-branch.ts";

test("the branch of a folder whose HEAD never ends is not waited for", { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-branch-"));
  try {
    mkdirSync(join(folder, "pipe", ".git"), { recursive: true });
    execFileSync("mkfifo", [join(folder, "pipe", ".git", "HEAD")]);
    assert.equal(gitBranch(join(folder, "pipe")), undefined);
    mkdirSync(join(folder, "zero", ".git"), { recursive: true });
    symlinkSync("/dev/zero", join(folder, "zero", ".git", "HEAD"));
    assert.equal(gitBranch(join(folder, "zero")), undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
