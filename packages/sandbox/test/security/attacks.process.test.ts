// Hostile commands against what a sandbox promises, as this user and, started by root, as another one.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cannotBeOther, nobody } from "../support/other-user.ts";
import { inSandbox } from "../support/required-sandbox.ts";
import { below, git, workplace } from "../support/workplace.ts";

const program = fileURLToPath(new URL("attack-program.ts", import.meta.url));
const run = promisify(execFile);

/** Sandboxes of other tests mount over the sockets in the folders, so these must not be removed at once. */
const removals: (() => void)[] = [];
const atTheEnd = { after: (remove: () => void) => void removals.push(remove) };
after(() => {
  for (const remove of removals) remove();
});

const cases = [
  ["workspace", "this user"],
  ["strict", "this user"],
  ["workspace", "another user"],
] as const;

test("without its .git a workplace is still not in this repository", (t) => {
  const { base, work } = workplace(t);
  rmSync(join(work, ".git"), { recursive: true });
  assert.equal(git(work, "rev-parse", "--show-toplevel").trim(), base);
});

test("attacks run in a fresh workplace and in a sandbox only, never beside this repository", async (t) => {
  const { base } = workplace(t);
  const attack = (...args: string[]) =>
    run(process.execPath, ["--conditions=parley-source", program, ...args], { cwd: "/" });
  await assert.rejects(attack(base, "off"), /attacks run in the profiles workspace and strict, got off/);
  await assert.rejects(attack(join(base, "work"), "workspace"), /ENOENT.*\.fresh/);
});

for (const [profile, who] of cases) {
  const isOther = who === "another user";
  const skip = inSandbox.skip || (isOther && cannotBeOther(program));
  test(`no attack on the profile ${profile} succeeds as ${who}`, { ...inSandbox, skip }, async (t) => {
    const { base, work } = workplace(atTheEnd, isOther ? nobody : undefined);
    const before = below(work).filter((path) => !/^\.git\/|^\.git$/.test(path));
    const { stdout } = await run(process.execPath, ["--conditions=parley-source", program, base, profile], {
      ...(isOther ? { uid: nobody, gid: nobody } : {}),
      cwd: "/",
    });
    const { count, hits, refused, changed, isAlive, movedAside, created } = JSON.parse(stdout);
    const violations = hits.length + changed.length;
    t.diagnostic(`security: sandbox ${profile} as ${who}: ${count} attempts, ${violations} violations`);
    assert.ok(count > 60);
    assert.deepEqual(hits, []);
    assert.deepEqual(changed, []);
    assert.deepEqual([movedAside, created], [[], []]);
    assert.equal(isAlive, true, "the process of the host lives");
    // home is hidden by the strict profile
    assert.deepEqual(refused, profile === "strict" ? ["reads other files"] : []);
    const lost = before.filter((path) => !below(work).includes(path));
    assert.deepEqual(lost, []);
  });
}
