// Runs the tests of the sandbox once more as a user who owns nothing but the folder that they work in.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { cannotBeOther, nobody } from "../support/other-user.ts";
import { inSandbox } from "../support/required-sandbox.ts";
import { cache } from "../support/workplace.ts";

const files =
  `protected-names.process.test.ts hostile-places.process.test.ts ../../src/open-sandbox.process.test.ts
  ../../src/git-state.process.test.ts ../../src/mounts/vanishing-mounts.process.test.ts
  ../../src/guard/watched-folders.test.ts ../../../agent/src/session/git-state.process.test.ts
  ../../../agent/src/permissions/sandboxed-commands.process.test.ts
  ../../../client/test/security/sandboxed-gate.process.test.ts ../../../client/src/trust/trust.test.ts
  ../../../review/src/hostile-repositories.process.test.ts`.split(/\s+/);

/** Tests that are for root, or need keys in the home of the account. */
const others = /root is told|needs root|the keys in the home of the account/;

const reason = cannotBeOther(fileURLToPath(import.meta.url));
const isRoot = process.getuid?.() === 0;
if (isRoot && reason !== false && process.env["PARLEY_REQUIRE_SANDBOX"] === "1")
  throw new Error(`PARLEY_REQUIRE_SANDBOX is set, but ${reason}`);

test("the tests of the sandbox pass as another user", {
  ...inSandbox,
  skip: inSandbox.skip || reason,
  timeout: 600_000,
}, async (t) => {
  mkdirSync(cache, { recursive: true });
  const place = realpathSync(mkdtempSync(join(cache, "other-user-")));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  for (const name of ["", "home", "tmp"]) {
    mkdirSync(join(place, name), { recursive: true });
    chownSync(join(place, name), nobody, nobody);
  }
  const paths = files.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const options = ["--conditions=parley-source", "--test", "--test-reporter=tap", ...paths];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, options, {
    cwd: place,
    uid: nobody,
    gid: nobody,
    env: { ...env, HOME: join(place, "home"), TMPDIR: join(place, "tmp"), PARLEY_TEST_PLACE: place },
    stdio: ["ignore", "pipe", "inherit"],
    signal: t.signal,
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(code, 0, output);
  const skipped = output.split("\n").filter((line) => / # SKIP/.test(line) && !others.test(line));
  assert.deepEqual(skipped, []);
  assert.ok(Number(/^# pass (\d+)$/m.exec(output)?.[1]) > 100, output);
});
