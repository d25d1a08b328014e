// The folders of every package: no cycles, no crowds, and drawn in ARCHITECTURE.md as they are.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  entryFolder,
  findCycle,
  folderGraph,
  folderOf,
  linesOf,
  packageNames,
  sourcesOf,
} from "./folder-graph.ts";
import { withGraphs } from "./graph-page.ts";
import { importsOf, isTest, read, repositoryFiles } from "./source-files.ts";

const graphs = packageNames.map(folderGraph);

test("a cycle between folders is found", () => {
  const folders = new Map([
    ["a", new Set(["b"])],
    ["b", new Set(["c"])],
    ["c", new Set(["b"])],
  ]);
  assert.deepEqual(findCycle({ folders }), ["b", "c", "b"]);
  assert.equal(findCycle({ folders: new Map([["a", new Set(["b"])]]) }), undefined);
});

for (const graph of graphs) {
  test(`packages/${graph.packageName} has no cycle between its folders`, () => {
    assert.ok(graph.folders.size > 1, "the folders were not found");
    assert.equal(findCycle(graph)?.join(" -> "), undefined);
  });

  test(`no folder of packages/${graph.packageName} imports an entry point`, () => {
    const wrong = [...graph.folders]
      .filter(([, targets]) => targets.has(entryFolder))
      .map(([folder]) => folder);
    assert.deepEqual(wrong, []);
  });

  test(`a folder of packages/${graph.packageName} has at most 25 source files`, () => {
    const counts = new Map<string, number>();
    for (const file of sourcesOf(graph.packageName))
      counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + 1);
    assert.deepEqual(
      [...counts].filter(([, count]) => count > 25),
      [],
    );
  });
}

test("the lines of a package are counted, generated ones apart from those written by hand", () => {
  const sum = (files: readonly string[]) =>
    files.reduce((lines, file) => lines + (read(file).match(/\n/g)?.length ?? 0), 0);
  const [generated, written] = [true, false].map((is) =>
    sum(sourcesOf("acp").filter((file) => file.endsWith(".gen.ts") === is)),
  );
  assert.deepEqual(linesOf("acp"), { written, generated });
  assert.equal(linesOf("review").generated, 0);
});

test("ARCHITECTURE.md draws the folders as they are (npm run graph)", () => {
  const page = read("ARCHITECTURE.md");
  assert.equal(page, withGraphs(page, graphs));
});

test("src holds no test support and imports none", () => {
  const support = /^packages\/[^/]+\/test\//;
  const wrong = packageNames
    .flatMap(sourcesOf)
    .flatMap((file) =>
      importsOf(file).some(({ target }) => target !== undefined && support.test(target)) ? [file] : [],
    );
  assert.deepEqual(wrong, []);
  const imported = new Set(
    repositoryFiles()
      .filter((file) => /\.(?:ts|mjs)$/.test(file) && !isTest(file))
      .flatMap((file) => importsOf(file).flatMap(({ target }) => target ?? [])),
  );
  // a file that only tests import is test support
  const entries = /\/src\/[^/]+\.ts$/;
  const onlyForTests = packageNames
    .flatMap(sourcesOf)
    .filter((file) => !entries.test(file) && !imported.has(file));
  assert.deepEqual(onlyForTests, []);
});
