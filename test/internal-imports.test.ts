// Counts the files that import the `/internal` entry of another package. What a package needs of another one is to be
// published, or to stand where it is used, so these numbers only fall.

import assert from "node:assert/strict";
import { test } from "node:test";
import { packageNames, sourcesOf } from "./folder-graph.ts";
import { importsOf } from "./source-files.ts";

/** The files without tests, by package. Write down a lower number with the change that reaches it. */
const filesThatImportInternals: Readonly<Record<string, number>> = {
  acp: 0,
  agent: 3,
  cli: 26,
  client: 23,
  conformance: 7,
  dialects: 1,
  gateway: 7,
  mcp: 0,
  review: 0,
  sandbox: 1,
};

/** The internal entries that there are. One that is gone does not come back. */
const internalEntries = [
  "@parley/acp/internal",
  "@parley/acp/internal/node",
  "@parley/acp/internal/wire",
  "@parley/client/internal",
];

const internalImports = (file: string): string[] =>
  importsOf(file)
    .map(({ specifier }) => specifier)
    .filter((specifier) => /^@parley\/[^/]+\/internal\b/.test(specifier));

test("the number of files that import an internal entry does not rise, and is written down when it falls", () => {
  const counted = packageNames.map((name) => [
    name,
    sourcesOf(name).filter((file) => internalImports(file).length > 0).length,
  ]);
  assert.deepEqual(Object.fromEntries(counted), filesThatImportInternals);
});

test("nothing imports an internal entry that is gone", () => {
  const used = new Set(packageNames.flatMap((name) => sourcesOf(name).flatMap(internalImports)));
  assert.deepEqual([...used].sort(), internalEntries);
});
