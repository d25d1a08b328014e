// npm run generate: writes packages/acp/src/wire/v1 and v2 from the schemas of the pinned SDK, the schema of the config file
// from its description, and docs/cli.md from the tables of the commands.
// With --check nothing is written: exits with 1 and names every committed file that is out of date.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatedFiles, staleFiles } from "./output.ts";

const root = join(import.meta.dirname, "../..");
const files = generatedFiles();
const stale = staleFiles(files, (path) => {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
});

if (process.argv.includes("--check")) {
  for (const path of stale) console.error(`${path} is out of date: run npm run generate`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const path of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), files.get(path) ?? "");
    console.log(`wrote ${path}`);
  }
}
