// Tests the review of a session in a folder.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { chatHome, patience } from "../../../test/support/chat-probe.ts";
import { stateFolder } from "../../settings/data-folder.ts";
import { resultLines } from "./result-lines.ts";
import { SessionReview } from "./session-review.ts";

function reviewed(t: TestContext, { cwd, name, isContinued }: Partial<Reviewed> = {}) {
  const folder = cwd ?? chatHome(t).cwd;
  const notices: string[] = [];
  const review = new SessionReview({
    roots: [folder],
    isContinued: isContinued ?? false,
    session: () => name,
    notice: (text) => notices.push(text),
  });
  t.after(() => review.close());
  return { cwd: folder, notices, review };
}

interface Reviewed {
  readonly cwd: string;
  readonly name: string;
  readonly isContinued: boolean;
}

test("a continued session whose earlier turns are not stored says so", patience, async (t) => {
  const { review } = reviewed(t, { name: "unknown", isContinued: true });
  await review.changes();
  assert.match(review.notCovered.join(), /before it was continued here/);
});

test(
  "a session that is continued has its earlier turns: they are shown, undone, redone, and the agent is told",
  patience,
  async (t) => {
    const { cwd, review: first } = reviewed(t, { name: "mine" });
    const file = join(cwd, "a.txt");
    writeFileSync(file, "one\n");
    await first.begin("say two\nin a.txt");
    writeFileSync(file, "two\n");
    await first.end();
    // opened again before the first one has let go
    void first.close();
    const { review: second } = reviewed(t, { cwd, name: "mine", isContinued: true });
    assert.equal((await second.changes()).files.length, 1);
    assert.doesNotMatch(second.notCovered.join(), /before it was continued here/);
    const undone = await second.undoTurn();
    assert.deepEqual(typeof undone === "object" && resultLines(undone, cwd).slice(0, 2), [
      "undo of turn 1: say two in a.txt",
      "undone a.txt",
    ]);
    assert.equal(readFileSync(file, "utf8"), "one\n");
    await second.close();
    const { review: third } = reviewed(t, { cwd, name: "mine", isContinued: true });
    await third.begin();
    assert.match(third.takeReport()?.text ?? "", /a\.txt/, "no prompt was sent since the undo");
    await third.end();
    await third.redoLast();
    assert.equal(readFileSync(file, "utf8"), "two\n");
  },
);

test(
  "a folder for the review that cannot be written is said once, with what to do, and turns go on",
  patience,
  async (t) => {
    const { review, notices } = reviewed(t, { name: "mine" });
    mkdirSync(stateFolder(), { recursive: true });
    writeFileSync(join(stateFolder(), "review"), "");
    for (let turn = 0; turn < 2; turn += 1) {
      await review.begin();
      assert.equal(await review.end(), undefined);
    }
    assert.equal(notices.length, 1);
    assert.match(
      notices[0] ?? "",
      /cannot store in .*review: something that is no folder is in its place; move it away/,
    );
    assert.match(notices[0] ?? "", /The chat goes on without review/);
    await assert.rejects(review.undoTurn(), /cannot store in/);
    rmSync(join(stateFolder(), "review"));
    await review.begin();
    assert.equal(await review.end(), undefined, "it is tried again");
    assert.equal(notices.length, 1);
  },
);

test(
  "an undo that is asked for while a turn begins waits for its end, and the agent is told",
  patience,
  async (t) => {
    const { cwd, review } = reviewed(t, { name: "mine" });
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
    const ended = { files: 1, added: 1, removed: 1, review: { session: "mine", turn: 1 } };
    assert.deepEqual(await review.end(), ended);
    assert.notEqual(typeof (await undone), "string");
    assert.equal(readFileSync(file, "utf8"), "one\n");
    assert.match(review.takeReport()?.text ?? "", /a\.txt/);
  },
);
