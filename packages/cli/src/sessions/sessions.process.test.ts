// `parley sessions`: which session is meant.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { patience, RunProbe } from "../run/run-probe.ts";

const probe = new RunProbe();

test("a session that is not there, one of several and one too many are told apart", patience, async () => {
  const command = probe.agent([{ say: "done" }]);
  for (const folder of [".", probe.folder]) {
    const { status, stderr } = await probe.parley([
      "run",
      "-C",
      folder,
      "-s",
      "same",
      "go",
      "--",
      ...command,
    ]);
    assert.equal(status, 0, stderr);
  }
  const missing = await probe.parley(["sessions", "show", "nonesuch"]);
  assert.deepEqual(
    [missing.status, missing.stderr.split("\n")[0]],
    [1, "parley: there is no session nonesuch"],
  );
  const several = await probe.parley(["sessions", "show", "same"]);
  assert.equal(several.status, 1);
  assert.match(several.stderr, /same may be any of 2 sessions: \S+, \S+\nparley: give the whole id\n/);
  for (const verb of ["show", "export"]) {
    const extra = await probe.parley(["sessions", verb, "same", "two"]);
    assert.deepEqual([extra.status, /takes one session, got two too/.test(extra.stderr)], [2, true]);
  }
});

test("no sessions of a directory is not no sessions at all", patience, async () => {
  const nowhere = join(probe.folder, "nonesuch");
  const { status, stdout } = await probe.parley(["sessions", "list", "-C", nowhere]);
  assert.equal(status, 0);
  assert.ok(stdout.startsWith(`There are no sessions of ${nowhere}, which is not there.`), stdout);
});
