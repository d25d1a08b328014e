// Sandboxes inside a sandbox, as this user and, started by root, as another one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cannotBeOther, nobody } from "../test/support/other-user.ts";
import { inSandbox } from "../test/support/required-sandbox.ts";
import { put, workplace } from "../test/support/workplace.ts";

const program = fileURLToPath(new URL("../test/support/nested-program.ts", import.meta.url));

/** Starts the program in a sandbox of a profile, as another user if one is given. */
async function nested(t: TestContext, profile: "agent" | "strict", user?: number) {
  const place = workplace(t, user);
  const { base, home } = place;
  put(home, { ".mine/key": "SECRET" });
  if (user !== undefined) for (const path of [".mine", ".mine/key"]) chownSync(join(home, path), user, user);
  const child = spawn(process.execPath, ["--conditions=parley-source", program, base, profile], {
    cwd: "/",
    env: { PATH: process.env["PATH"], HOME: home, AGENT_API_KEY: "SECRET", LANG: "C" },
    stdio: ["ignore", "pipe", "pipe"],
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.equal(stderr, "");
  return { ...place, stdout };
}

const users = [
  ["this user", undefined],
  ["another user", nobody],
] as const;

for (const [who, user] of users) {
  const skip = inSandbox.skip || (user !== undefined && cannotBeOther(program));
  const name = `a sandboxed agent runs its commands in a sandbox of their own, without its keys, as ${who}`;
  test(name, { ...inSandbox, skip }, async (t) => {
    const { stdout, home, work, outside } = await nested(t, "agent", user);
    assert.equal(stdout, "oldend\n");
    assert.equal(readFileSync(join(work, "file"), "utf8"), "new\n");
    assert.equal(readFileSync(join(outside, "file"), "utf8"), "kept");
    assert.equal(readFileSync(join(home, ".mine/key"), "utf8"), "SECRET");
  });
}

test("where a sandbox forbids another one inside, that is the reason that is told", inSandbox, async (t) => {
  const { stdout } = await nested(t, "strict");
  assert.equal(stdout, "in_sandbox");
});
