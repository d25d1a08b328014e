// docs/documents.md lists every section of every document, and names files and tests that exist.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { read, root } from "./source-files.ts";

interface Document {
  readonly title: string;
  readonly edition: string;
  readonly counts: Readonly<Record<"sections" | "json" | "almostJson" | "inProgramText", number>>;
  readonly sections: readonly { readonly title: string }[];
}

const names = ["transports", "official", "mapping", "pharo", "scoped"];
const documents = names.map(
  (name) => JSON.parse(read(`packages/${packageOf(name)}/test/documents/${name}.json`)) as Document, // our own file
);

function packageOf(name: string): string {
  return name === "pharo" || name === "scoped" ? "dialects" : "acp";
}

/** The cells of the rows of each table, without its head. */
const tables = read("docs/documents.md")
  .split(/^(?=\| document|\| section)/m)
  .slice(1)
  .map((part) =>
    part
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .slice(2)
      .map((line) => line.slice(2, -2).split(" | ")),
  );
const [summary = [], ...sections] = tables;

const pathsIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);

test("the page counts the sections and examples of each document as they are", () => {
  assert.deepEqual(
    summary.map(([, ...counts]) => counts.slice(0, 4)),
    documents.map(({ edition, counts }) => [
      `\`${edition}\``,
      `${counts.sections}`,
      `${counts.json}`,
      `${counts.almostJson + counts.inProgramText}`,
    ]),
  );
});

for (const [index, { title, sections: wanted }] of documents.entries()) {
  const rows = sections[index] ?? [];
  test(`${title}: the page has every section, in order`, () => {
    assert.deepEqual(
      rows.map(([section]) => section),
      wanted.map((each) => each.title),
    );
  });

  test(`${title}: what the page names exists, and each thing that is built has a test`, () => {
    const wrong = rows.flatMap(([section, built = "", proofs = ""]) => {
      if (/^(?:nothing to implement|not built yet)$/.test(built))
        return proofs.trim() === "" ? [] : [section];
      const files = pathsIn(built);
      const tests = pathsIn(proofs);
      const isRight =
        files.length > 0 &&
        tests.length > 0 &&
        tests.every((path) => path.endsWith(".test.ts")) &&
        [...files, ...tests].every((path) => existsSync(join(root, "packages", path)));
      return isRight ? [] : [`${section}: ${[...files, ...tests].join(", ")}`];
    });
    assert.deepEqual(wrong, []);
  });
}
