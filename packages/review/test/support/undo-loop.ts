// A program for tests that kill it: undoes and redoes a turn for ever, and says so.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openReview } from "@parley/review";

const [root = "", home = "", text = ""] = process.argv.slice(2);
const review = await openReview({ roots: [root], stateFolder: home });
await review.beginTurn();
writeFileSync(join(root, "a.txt"), text.repeat(2000));
await review.endTurn();
for (;;) {
  const undone = await review.undo({ turn: 1 });
  process.stdout.write("undone\n");
  await review.redo(undone);
  process.stdout.write("redone\n");
}
