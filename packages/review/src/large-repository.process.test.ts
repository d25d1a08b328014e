// A large repository: a turn is found among many files, and the user's index is used as it is.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { inSoak } from "../test/support/soak.ts";
import { turn, workspace } from "../test/support/workspace.ts";

const folders = inSoak(50, 500);

test(`one changed file among ${folders * 100} is found, and the contents of the others are not stored`, async (t) => {
  const w = workspace(t);
  for (let folder = 0; folder < folders; folder += 1) {
    mkdirSync(w.path(`d${folder}`));
    for (let file = 0; file < 100; file += 1)
      writeFileSync(w.path(`d${folder}/f${file}`), `${file} ${file}\n`);
  }
  w.git("add", "-A");
  w.git("commit", "-qm", "first");
  const index = statSync(w.path(".git/index"));
  const review = await w.open();
  const { changes } = await turn(review, () => w.write("d7/f7", "changed\n"));
  assert.deepEqual(
    changes.files.map(({ path }) => path),
    [w.path("d7/f7")],
  );
  await review.undo({ turn: 1 });
  assert.equal(w.read("d7/f7"), "7 7\n");
  const after = statSync(w.path(".git/index"));
  assert.deepEqual([after.mtimeMs, after.ino], [index.mtimeMs, index.ino]);
  const stored = readdirSync(w.home, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\/objects\/[0-9a-f]{2}$/.test(entry.parentPath),
  );
  assert.ok(stored.length < 10, `${stored.length} objects`);
});
