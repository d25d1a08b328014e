// The texts about the public API that are committed: what each entry point exports, and the reference.

import { globSync } from "node:fs";
import { join } from "node:path";
import { entryPoints, fileNameOf } from "./entry-points.ts";
import { formattedTexts } from "./format.ts";
import { gapsOf, gapText } from "./gaps.ts";
import { openProgram } from "./program.ts";
import { readApi } from "./read-api.ts";
import { referencePages } from "./reference.ts";
import { surfaceTexts } from "./surface-text.ts";

const folders = ["test/surface", "docs/api"];

/** Paths from the root of the repository, with what belongs there: undefined for a file that is to go. */
export function surfaceFiles(root: string): Map<string, string | undefined> {
  const program = openProgram(join(root, "tsconfig.json"), { cwd: root });
  try {
    const api = readApi(program.project, root, entryPoints(root));
    const present = folders.flatMap((folder) => globSync(`${folder}/*`, { cwd: root }));
    const files = new Map<string, string | undefined>(present.map((path) => [path, undefined]));
    const textOf = formattedTexts(api, root);
    for (const [entry, text] of surfaceTexts(api, textOf)) {
      files.set(`test/surface/${fileNameOf(entry)}.txt`, text);
    }
    for (const [path, text] of referencePages(api, textOf)) files.set(path, text);
    files.set("test/surface/gaps.txt", gapText(gapsOf(api)));
    return files;
  } finally {
    program.close();
  }
}
