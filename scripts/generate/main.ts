// npm run generate: writes packages/acp/src/wire/v1 and v2 and the model from the schemas of the pinned SDK, the wire of
// the dialects from our own schemas of them, the schema of the config file from its description, docs/cli.md and docs/chat-keys.md from the tables of the commands, and from the sources what the
// public API is: test/surface and docs/api.
// With --check nothing is written: exits with 1 and names every committed file that is out of date.
// Either fails when v2 is not what the model was derived from; --accept-v2 derives it anew.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { surfaceFiles } from "../surface/files.ts";
import { openProgram } from "../surface/program.ts";
import { optionKeysModule } from "./option-keys.ts";
import { loadSchemas } from "./schema.ts";
import { staleFiles } from "./stale-files.ts";
import { requireAccepted } from "./v2-basis.ts";

const root = join(import.meta.dirname, "../..");
const committed = (path: string): string | undefined => {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
};

try {
  const onlyCheck = process.argv.includes("--check");
  // first: the sources that the rest is made of need them
  write(optionKeys(), onlyCheck);
  const { basisFile, generatedFiles } = await import("./output.ts");
  if (!process.argv.includes("--accept-v2")) {
    requireAccepted(loadSchemas("v2"), JSON.parse(committed(basisFile) ?? "{}"));
  }
  write(generatedFiles(), onlyCheck);
  // after the sources that are generated, because it reads them
  write(surfaceFiles(root), onlyCheck);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function optionKeys(): ReadonlyMap<string, string> {
  const program = openProgram(join(root, "tsconfig.json"), { cwd: root });
  try {
    return new Map([["packages/acp/src/base/option-keys.gen.ts", optionKeysModule(program.project, root)]]);
  } finally {
    program.close();
  }
}

function write(files: ReadonlyMap<string, string | undefined>, onlyCheck: boolean): void {
  for (const path of staleFiles(files, committed)) {
    if (onlyCheck) {
      console.error(`${path} is out of date: run npm run generate`);
      process.exitCode = 1;
      continue;
    }
    const text = files.get(path);
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (text === undefined) rmSync(join(root, path));
    else writeFileSync(join(root, path), text);
    console.log(`${text === undefined ? "removed" : "wrote"} ${path}`);
  }
}
