// Another process exchanges a directory, or a file, for a link to the outside as fast as it can, while we
// read and write through the name. PARLEY_SWAP_SECONDS makes each race longer; the default keeps the suite quick.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { descents, type Scratch, scratch, secret } from "../../../test/support/scratch-workspace.ts";
import { RequestError } from "../../jsonrpc/errors.ts";

const seconds = Number(process.env.PARLEY_SWAP_SECONDS ?? 0.5);
const best = descents[0]![1];
const race = {
  skip: process.platform === "win32" ? "needs POSIX files" : false,
  timeout: 90_000 + seconds * 2000,
};

/** `name` is in turn the real thing, nothing, and the link. What a writer puts in its place is moved aside. */
const swapper = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  const [name, real, target, aside] = process.argv.slice(1);
  let moved = 0;
  const insist = (act, inTheWay) => {
    for (;;) {
      try {
        return act();
      } catch {
        // it has gone by itself, which is as good: the loop finds out
        try { renameSync(inTheWay, aside + moved++); } catch {}
      }
    }
  };
  process.stdout.write("swapping");
  for (;;) {
    insist(() => renameSync(name, real), real);
    insist(() => symlinkSync(target, name), name);
    // a writer has replaced the link, or is about to: the next line moves aside what is there
    try { unlinkSync(name); } catch {}
    insist(() => renameSync(real, name), name);
  }
`;

interface Tally {
  attempts: number;
  inside: number;
  refused: number;
  readonly escapes: string[];
}

/** Swaps what is at `name` in the workspace for a link to `target`, until the test ends. */
async function startSwapping(
  t: TestContext,
  { at }: Scratch,
  name: string,
  target: string,
): Promise<ChildProcess> {
  mkdirSync(at("aside"));
  const paths = [at(name), at(`${name}.real`), target, at("aside/x")];
  const child = spawn(process.execPath, ["-e", swapper, ...paths], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

/** For the time set, and on until both sides of the race have been met: else it would prove nothing. */
async function attack(leastAttempts: number, act: () => Promise<string>): Promise<Tally> {
  const tally: Tally = { attempts: 0, inside: 0, refused: 0, escapes: [] };
  const start = performance.now();
  const isEnough = () => tally.attempts >= leastAttempts && tally.inside > 0 && tally.refused > 0;
  for (;;) {
    const elapsed = (performance.now() - start) / 1000;
    if (elapsed > seconds && (isEnough() || elapsed > seconds + 40)) return tally;
    tally.attempts += 1;
    try {
      const seen = await act();
      if (seen === "inside") tally.inside += 1;
      else tally.escapes.push(seen);
    } catch (error) {
      // Whatever else it is, it must be an answer that a peer can be given.
      if (!(error instanceof RequestError)) throw error;
      tally.refused += 1;
    }
  }
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "close");
}

function report(t: TestContext, tally: Tally, leastAttempts: number): void {
  const { attempts, inside, refused, escapes } = tally;
  t.diagnostic(`${attempts} attempts: ${inside} inside, ${refused} refused, ${escapes.length} escapes`);
  assert.deepEqual(escapes, []);
  assert.ok(attempts >= leastAttempts, `only ${attempts} attempts`);
  assert.ok(inside > 0 && refused > 0, `${inside} inside, ${refused} refused`);
}

const leastReads = Math.ceil(400 * seconds);
const leastWrites = Math.ceil(40 * seconds);

for (const [way, access] of descents) {
  test(`no read escapes while a directory is swapped for a link (TH1, N146), by ${way}`, race, async (t) => {
    const workspace = scratch(t, access);
    const path = workspace.put("d/secret", "inside");
    const child = await startSwapping(t, workspace, "d", workspace.outside);
    const tally = await attack(leastReads, () => workspace.files.readText(path));
    await stop(child);
    report(t, tally, leastReads);
  });

  test(`no read escapes while a file is swapped for a link (TH1, N145), by ${way}`, race, async (t) => {
    const workspace = scratch(t, access);
    const path = workspace.put("d/secret", "inside");
    const child = await startSwapping(t, workspace, "d/secret", join(workspace.outside, "secret"));
    const tally = await attack(leastReads, () => workspace.files.readText(path));
    await stop(child);
    report(t, tally, leastReads);
  });
}

// By names a write can lose this race, as portable-access.ts says.
const safe = { ...race, skip: descents.length === 2 ? race.skip : "needs descriptors" };

test("no write escapes while a directory is swapped for a link (TH1, N146)", safe, async (t) => {
  const workspace = scratch(t, best);
  workspace.put("d/keep", "inside");
  const child = await startSwapping(t, workspace, "d", workspace.outside);
  let count = 0;
  const tally = await attack(leastWrites, async () => {
    count += 1;
    // One that exists on both sides, new files, and files in new directories.
    const name = ["secret", `new-${count % 50}`, `sub-${count % 50}/file`][count % 3];
    await workspace.files.writeText(workspace.at(`d/${name}`), "inside", { expected: "any" });
    return "inside";
  });
  await stop(child);
  // The fixture checks that the outside is as it was, and that no temporary file is left anywhere.
  report(t, tally, leastWrites);
});

test("no write escapes while a file is swapped for a link (TH1, N145)", safe, async (t) => {
  const workspace = scratch(t, best);
  const path = workspace.put("d/secret", "inside");
  const child = await startSwapping(t, workspace, "d/secret", join(workspace.outside, "secret"));
  const tally = await attack(leastWrites, async () => {
    await workspace.files.writeText(path, "inside", { expected: "any" });
    return "inside";
  });
  await stop(child);
  report(t, tally, leastWrites);
});

test("the race is one that a check by path loses", race, async (t) => {
  const workspace = scratch(t, best);
  const path = workspace.put("d/secret", "inside");
  const child = await startSwapping(t, workspace, "d", workspace.outside);
  let escapes = 0;
  const end = performance.now() + 40_000;
  while (escapes === 0 && performance.now() < end) {
    try {
      const isInside = realpathSync(path).startsWith(workspace.root);
      if (isInside && readFileSync(path, "utf8") === secret) escapes += 1;
    } catch {
      // it is missing for a moment
    }
  }
  await stop(child);
  assert.ok(escapes > 0, "the swapper is too slow to prove anything");
});
