import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { claimFile, type FileClaim, isFileClaimed, isProcessRunning, processKey } from "@parley/acp/node";

function temporaryFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-claim-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "owner");
}

function source(script: string): string[] {
  const text = `import { claimFile, processKey } from "@parley/acp/node"; ${script}`;
  return ["--conditions=parley-source", "--input-type=module", "-e", text];
}

/** The key of a process that has ended. */
function deadKey(): string {
  return spawnSync(process.execPath, source("console.log(processKey())"), { encoding: "utf8" }).stdout.trim();
}

test("a claimed file belongs to one process until it is released", (t) => {
  const path = temporaryFile(t);
  const claim = claimFile(path);
  assert.ok(claim);
  assert.equal(claimFile(path), undefined, "also within the process");
  assert.ok(isFileClaimed(path));
  claim.release();
  assert.equal(isFileClaimed(path), false);
  const again = claimFile(path);
  assert.ok(again);
  // a release that comes late does not remove the claim of another
  claim.release();
  assert.ok(isFileClaimed(path));
  again.release();
  assert.deepEqual(readdirSync(join(path, "..")), []);
});

test("the claim of a process that was killed is taken over", (t) => {
  const path = temporaryFile(t);
  const script = `claimFile(${JSON.stringify(path)}); process.kill(process.pid, "SIGKILL")`;
  assert.equal(spawnSync(process.execPath, source(script)).signal, "SIGKILL");
  assert.equal(isFileClaimed(path), false);
  const claim = claimFile(path);
  assert.ok(claim);
  assert.match(readFileSync(path, "utf8"), new RegExp(`^${process.pid}\\.`));
  claim.release();
  assert.deepEqual(readdirSync(join(path, "..")), [], "nothing else is left");
});

test("a process that got the pid of an ended one does not have its claims", {
  skip: process.platform !== "linux",
}, (t) => {
  const path = temporaryFile(t);
  const [pid, ticks = "", boot = ""] = processKey().split(".");
  for (const key of [`${pid}.${Number(ticks) - 1}.${boot}`, `${pid}.${ticks}.00000000`]) {
    assert.equal(isProcessRunning(key), false, key);
    writeFileSync(path, `${key} 1b1d4bd3\n`);
    assert.equal(isFileClaimed(path), false);
    const claim = claimFile(path);
    assert.ok(claim, key);
    claim.release();
  }
  assert.ok(isProcessRunning(processKey()));
  assert.ok(isProcessRunning(`${pid}`), "where the start is unknown, the pid decides");
  assert.equal(isProcessRunning("nobody"), false);
});

test("two that see an abandoned claim never remove that of a third", (t) => {
  const path = temporaryFile(t);
  const dead = deadKey();
  let reads = 0;
  for (let faster = 1; reads >= faster - 1; faster += 1) {
    writeFileSync(path, `${dead} ${faster}\n`);
    reads = 0;
    let other: FileClaim | undefined;
    const original = fs.readFileSync;
    // another process claims the file right after this one has read it for the n-th time
    const read = t.mock.method(fs, "readFileSync", (...args: Parameters<typeof original>) => {
      const content = original(...args);
      if (args[0] !== path) return content;
      reads += 1;
      if (reads !== faster) return content;
      read.mock.restore();
      syncBuiltinESMExports();
      other = claimFile(path);
      return content;
    });
    syncBuiltinESMExports();
    const own = claimFile(path);
    read.mock.restore();
    syncBuiltinESMExports();
    const winner = own ?? other;
    assert.ok(winner);
    assert.ok(own === undefined || other === undefined, `both have it after read ${faster}`);
    assert.ok(isFileClaimed(path));
    winner.release();
    assert.deepEqual(readdirSync(join(path, "..")), []);
  }
  assert.ok(reads >= 2, "the file is looked at again before it is removed");
});
