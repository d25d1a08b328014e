// A program for tests that kill it: a session with one turn after another, and says so.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { openReview } from "@parley/review";

const [root = "", home = "", session = ""] = process.argv.slice(2);
const review = await openReview({ roots: [root], stateFolder: home, session });
for (let number = 1; ; number += 1) {
  await review.beginTurn();
  process.stdout.write("begun\n");
  appendFileSync(join(root, "a.txt"), `${number}\n`);
  appendFileSync(join(root, `of-${number}.txt`), `${number}\n`);
  await review.endTurn();
  process.stdout.write("ended\n");
}
