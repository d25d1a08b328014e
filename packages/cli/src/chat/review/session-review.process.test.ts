// Tests the review of a session in a folder.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { chatHome, patience } from "../../../test/support/chat-probe.ts";
import { SessionReview } from "./session-review.ts";

function reviewed(t: TestContext, isContinued: boolean) {
  const { cwd } = chatHome(t);
  const told: string[] = [];
  const review = new SessionReview({
    roots: [cwd],
    isContinued,
    notice: () => undefined,
    tell: (text) => told.push(text),
  });
  t.after(() => review.close());
  return { cwd, told, review };
}

test("a continued session says that its earlier changes are not covered", patience, async (t) => {
  assert.match(reviewed(t, true).review.notCovered.join(), /before it was continued here/);
  assert.deepEqual(reviewed(t, false).review.notCovered, []);
});

test(
  "an undo that is asked for while a turn begins waits for its end, and the agent is told",
  patience,
  async (t) => {
    const { cwd, told, review } = reviewed(t, false);
    const file = join(cwd, "a.txt");
    writeFileSync(file, "one\n");
    const begun = review.begin();
    let isUndone = false;
    const undone = review.undoTurn().then((result) => {
      isUndone = true;
      return result;
    });
    await begun;
    writeFileSync(file, "two\n");
    assert.equal(isUndone, false);
    assert.deepEqual(await review.end(), { files: 1, added: 1, removed: 1 });
    assert.notEqual(typeof (await undone), "string");
    assert.equal(readFileSync(file, "utf8"), "one\n");
    assert.match(told.join(), /a\.txt/);
  },
);
