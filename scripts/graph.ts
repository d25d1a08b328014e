// `npm run graph`: draws the folders of each package and their imports into ARCHITECTURE.md. `npm run graph -- --lines`:
// prints the lines of each package instead.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderGraph, linesOf, packageNames } from "../test/folder-graph.ts";
import { withGraphs } from "../test/graph-page.ts";
import { root } from "../test/source-files.ts";

const [option, ...others] = process.argv.slice(2);
if (option === undefined) draw();
else if (option === "--lines" && others.length === 0) process.stdout.write(lineTable());
else {
  process.stderr.write("usage: npm run graph [-- --lines]\n");
  process.exitCode = 2;
}

function draw(): void {
  const file = join(root, "ARCHITECTURE.md");
  const before = readFileSync(file, "utf8");
  const after = withGraphs(before, packageNames.map(folderGraph));
  if (after !== before) writeFileSync(file, after);
  process.stdout.write(
    after === before ? "graph: ARCHITECTURE.md is up to date\n" : "graph: ARCHITECTURE.md updated\n",
  );
}

function lineTable(): string {
  const counts = packageNames.map((name) => ({ name, ...linesOf(name) }));
  const sum = (of: "written" | "generated") => counts.reduce((total, count) => total + count[of], 0);
  const rows = [...counts, { name: "all", written: sum("written"), generated: sum("generated") }];
  const row = (name: string, written: string, generated: string) =>
    `${name.padEnd(12)} ${written.padStart(12)} ${generated.padStart(12)}\n`;
  const numbered = rows.map(({ name, written, generated }) => row(name, String(written), String(generated)));
  return row("package", "hand-written", "generated") + numbered.join("");
}
