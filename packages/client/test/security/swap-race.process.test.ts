// Another process swaps a directory for a link while an agent reads and writes below it; PARLEY_RACE_SECONDS is the duration.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { RequestError } from "@parley/acp";
import { parseRule, permissionGate } from "@parley/client/policy";
import { ground, secret, tally } from "./hostile-probe.ts";

const seconds = Number(process.env["PARLEY_RACE_SECONDS"] ?? 5) / 5;
const race = {
  skip: process.platform === "linux" ? false : "needs descriptors as Linux has them",
  timeout: 90_000 + seconds * 5_000,
};

/** `name` is in turn the real thing, nothing, and the link. What a writer puts in its place is moved aside. */
const swapper = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  const [name, target] = process.argv.slice(1);
  const real = name + ".real";
  let moved = 0;
  const insist = (act, inTheWay) => {
    for (;;) {
      try {
        return act();
      } catch {
        // it has gone by itself, which is as good: the loop finds out
        try { renameSync(inTheWay, name + ".aside" + moved++); } catch {}
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

/** Swaps what is at `name` for a link to `target` while the work goes on. */
async function whileSwapping<Result>(
  name: string,
  target: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const child = spawn(process.execPath, ["-e", swapper, name, target], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    return await work();
  } finally {
    child.kill("SIGKILL");
    await once(child, "close");
  }
}

/** For the time set, and on until both sides of the race have been met: else it would prove nothing. */
async function attack(
  act: (count: number) => Promise<string>,
): Promise<{ attempts: number; violations: string[] }> {
  const violations: string[] = [];
  let [attempts, inside, refused] = [0, 0, 0];
  const start = performance.now();
  for (;;) {
    const elapsed = (performance.now() - start) / 1000;
    const isEnough = inside > 0 && refused > 0;
    if (elapsed > seconds && (isEnough || elapsed > seconds + 40)) break;
    attempts++;
    try {
      const seen = await act(attempts);
      if (seen === "inside") inside++;
      else violations.push(seen);
    } catch (error) {
      // whatever else it is, it must be an answer that a peer can be given
      if (!(error instanceof RequestError)) throw error;
      refused++;
    }
  }
  assert.ok(inside > 0 && refused > 0, `${inside} inside, ${refused} refused: no race`);
  return { attempts, violations };
}

function listing(folder: string): string {
  return readdirSync(folder, { recursive: true }).sort().join("\n");
}

for (const where of ["outside", "forbidden"] as const) {
  const place = (t: TestContext) => {
    const workspace = ground(t);
    workspace.put("d/secret", "inside");
    workspace.put("forbidden/secret", secret);
    const rules = [
      parseRule("*", { effect: "allow", origin: "launch" }),
      parseRule("read forbidden", { effect: "deny", origin: "user" }),
      parseRule("write forbidden", { effect: "deny", origin: "user" }),
    ];
    const { files } = permissionGate({ rules }).services({
      sessionId: "s",
      cwd: workspace.root,
      roots: [workspace.root],
    });
    t.after(() => files.close?.());
    const target = where === "outside" ? workspace.outside : workspace.at("forbidden");
    return { workspace, files, target };
  };

  test(`no read reaches what is ${where} while a directory is swapped for a link (TH1)`, race, async (t) => {
    const { workspace, files, target } = place(t);
    const read = () => attack(() => files.readText(workspace.at("d/secret")));
    const { attempts, violations } = await whileSwapping(workspace.at("d"), target, read);
    tally(t, `swap race, reading what is ${where}`, attempts, violations);
  });

  test(`no write reaches what is ${where} while a directory is swapped for a link (TH1)`, race, async (t) => {
    const { workspace, files, target } = place(t);
    const before = listing(target);
    const outsideBefore = workspace.outsideNow();
    const write = () =>
      attack(async (count) => {
        const name = ["secret", `new-${count % 50}`, `sub-${count % 50}/file`][count % 3];
        await files.writeText(workspace.at(`d/${name}`), "inside");
        return "inside";
      });
    const { attempts, violations } = await whileSwapping(workspace.at("d"), target, write);
    if (listing(target) !== before || workspace.outsideNow() !== outsideBefore)
      violations.push("something was written");
    assert.equal(readFileSync(join(target, "secret"), "utf8"), secret);
    tally(t, `swap race, writing what is ${where}`, attempts, violations);
  });
}

test("no command runs outside while its directory is swapped for a link (TH1)", race, async (t) => {
  const workspace = ground(t);
  workspace.put("d/secret", "inside");
  const { terminals } = permissionGate({
    rules: [parseRule("*", { effect: "allow", origin: "launch" })],
  }).services({ sessionId: "s", cwd: workspace.root, roots: [workspace.root] });
  t.after(() => terminals.close());
  const run = () =>
    attack(async () => {
      const terminal = await terminals.create({ command: "pwd", args: ["-P"], cwd: workspace.at("d") });
      try {
        await terminal.waitForExit();
        const where = (await terminal.output()).output.trim();
        return where.startsWith(`${workspace.root}/`) ? "inside" : where;
      } finally {
        await terminal.release();
      }
    });
  const { attempts, violations } = await whileSwapping(workspace.at("d"), workspace.outside, run);
  tally(t, "swap race, running a command outside", attempts, violations);
});
