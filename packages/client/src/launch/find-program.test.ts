// Tests how a program is found on PATH.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findAgentProgram } from "./find-program.ts";

const posix = { skip: process.platform === "win32" ? "needs POSIX permissions" : false };

/** Root may enter every folder, so it becomes somebody else for a moment. */
function asOrdinaryUser<Result>(work: () => Result): Result {
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(65534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

test("a command is missing, not unusable, where a folder of PATH cannot be entered", posix, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-path-"));
  const closed = join(folder, "closed");
  t.after(() => {
    chmodSync(closed, 0o700);
    rmSync(folder, { recursive: true });
  });
  mkdirSync(closed);
  writeFileSync(join(closed, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  chmodSync(folder, 0o755);
  chmodSync(closed, 0);
  const environment = { PATH: closed, HOME: "/nowhere" };
  for (const command of ["tool", "parley-no-such-command"]) {
    const found = asOrdinaryUser(() => findAgentProgram(command, environment, "/"));
    assert.deepEqual(found, { problem: "missing", searched: [closed] });
  }
  const named = asOrdinaryUser(() => findAgentProgram(join(closed, "tool"), environment, "/"));
  assert.deepEqual(named, { problem: "unreachable", searched: [join(closed, "tool")] });
});
