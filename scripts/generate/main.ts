// npm run generate: writes packages/acp/src/wire/v1 and v2 from the schemas of the pinned SDK.
// With --check nothing is written: exits with 1 and names every committed file that is out of date.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { methodsModule } from "./methods.ts";
import { loadSchemas } from "./schema.ts";
import { shapesOf } from "./shapes.ts";
import { typesModule } from "./types.ts";
import { validatorsModule } from "./validators.ts";

const root = join(import.meta.dirname, "../..");
const target = join(root, "packages/acp/src/wire");

function generate(): Map<string, string> {
  const files = new Map<string, string>();
  for (const version of ["v1", "v2"] as const) {
    const pair = loadSchemas(version);
    const definitions = shapesOf(pair);
    files.set(join(target, version, "types.gen.ts"), typesModule(definitions));
    files.set(join(target, version, "validators.gen.ts"), validatorsModule(definitions));
    files.set(join(target, version, "methods.gen.ts"), methodsModule(pair, definitions));
  }
  return files;
}

function committed(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Not generated yet, which is as stale as it gets.
    return undefined;
  }
}

const stale = [...generate()].filter(([file, text]) => committed(file) !== text);
if (process.argv.includes("--check")) {
  for (const [file] of stale) console.error(`${relative(root, file)} is out of date: run npm run generate`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [file, text] of stale) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${relative(root, file)}`);
  }
}
