// `npm run graph`: draws the folders of each package and their imports into ARCHITECTURE.md.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderGraph, packageNames } from "../test/folder-graph.ts";
import { withGraphs } from "../test/graph-page.ts";
import { root } from "../test/source-files.ts";

const file = join(root, "ARCHITECTURE.md");
const before = readFileSync(file, "utf8");
const after = withGraphs(before, packageNames.map(folderGraph));
if (after !== before) writeFileSync(file, after);
process.stdout.write(
  after === before ? "graph: ARCHITECTURE.md is up to date\n" : "graph: ARCHITECTURE.md updated\n",
);
