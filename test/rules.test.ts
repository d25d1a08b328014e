// docs/rules.md and the tests speak of the same rules: no test cites an id without a row, and no row claims a
// proof that is not there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTest, read, repositoryFiles } from "./source-files.ts";

interface Row {
  readonly id: string;
  /** The last cell, cut at its semicolons: files, and `later:` with the part of the project that will prove it. */
  readonly proofs: readonly string[];
}

const files = repositoryFiles();
const rows: readonly Row[] = [...read("docs/rules.md").matchAll(/^\| ([A-Z]+\d+) \|.*\| ([^|]*) \|$/gm)].map(
  ([, id = "", cell = ""]) => ({ id, proofs: cell.split("; ").map((part) => part.trim()) }),
);

/** Cases and contracts are data and functions that several test files run. */
const isSharedByTests = (file: string) =>
  /\/bad-input\/(?:[a-z]+-cases|scenarios)\.ts$/.test(file) || /contract\.ts$/.test(file);
const citing = files.filter((file) => isTest(file) || isSharedByTests(file));

const letters = "TH|[ABCEFGHJLMNPQTWX]";
const one = new RegExp(`\\b(${letters})(\\d{1,3})(?:-(?:${letters})(\\d{1,3}))?\\b`, "g");
/** Names of tests; for names that are made elsewhere, ids in brackets and at the beginning of any text. */
const names = /\b(?:test|it|suite|describe|promise)\(\s*(?:"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
const bracketed = new RegExp(`\\(((?:(?:${letters})\\d{1,3}(?:-(?:${letters})\\d{1,3})?(?:, )?)+)\\)`, "g");
const leading = new RegExp(`["\`]((?:(?:${letters})\\d{1,3}(?:-(?:${letters})\\d{1,3})?,? )+)(?=[a-z])`, "g");

/** The ids that a file cites; `N019-N022` are four. */
function idsIn(file: string): Set<string> {
  const text = read(file);
  const quotes = [names, bracketed, leading].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => match[1] ?? match[2]),
  );
  // the cases name their ids as data
  if (file.includes("/bad-input/")) quotes.push(...(text.match(/"(?:N|TH)\d{1,3}"/g) ?? []));
  const ids = new Set<string>();
  for (const [, letter = "", from = "", to = from] of quotes.join("\n").matchAll(one)) {
    for (let n = Number(from); n <= Number(to); n++) ids.add(letter + String(n).padStart(from.length, "0"));
  }
  return ids;
}

const cited = new Map(citing.map((file) => [file, idsIn(file)]));

test("the readers of rows and of citations see them", () => {
  // Without this, a change of style that they cannot read would make every rule below pass.
  assert.ok(rows.length > 600, `only ${rows.length} rows`);
  assert.ok(new Set([...cited.values()].flatMap((ids) => [...ids])).size > 150);
  assert.ok(cited.get("packages/acp/src/transport/line-decoder.test.ts")?.has("N021"));
});

test("an id has one row", () => {
  const ids = rows.map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

test("no rule is missing: the ids of each group count up to its last one", () => {
  const lasts = {
    J: 11,
    T: 7,
    B: 10,
    L: 3,
    H: 18,
    W: 6,
    G: 10,
    A: 125,
    C: 72,
    X: 20,
    Q: 12,
    P: 31,
    M: 22,
    E: 20,
    N: 280,
    TH: 28,
    F: 29,
  };
  const known = new Set(rows.map(({ id }) => id));
  const missing = Object.entries(lasts).flatMap(([group, last]) =>
    Array.from({ length: last }, (_, i) => group + String(i + 1).padStart(group === "N" ? 3 : 1, "0")).filter(
      (id) => !known.has(id),
    ),
  );
  assert.deepEqual(missing, []);
});

test("every id that a test cites has a row", () => {
  const known = new Set(rows.map(({ id }) => id));
  const unknown = [...cited].flatMap(([file, ids]) =>
    [...ids].filter((id) => !known.has(id)).map((id) => `${file} cites ${id}`),
  );
  assert.deepEqual(unknown, []);
});

test("every row is proved by a test that exists and cites it, or says which part of the project will", () => {
  const wrong = rows.flatMap(({ id, proofs }) =>
    proofs.filter((proof) => !isLater(proof) && !isProof(proof, id)).map((proof) => `${id}: ${proof}`),
  );
  assert.deepEqual(wrong, []);
});

test("no row puts off what a test already cites", () => {
  const named = new Set([...cited.values()].flatMap((ids) => [...ids]));
  const putOff = rows.filter(({ id, proofs }) => named.has(id) && proofs.every(isLater));
  assert.deepEqual(
    putOff.map(({ id }) => id),
    [],
  );
});

test("what is not offered is called by nothing", () => {
  const product = files.filter(
    (file) =>
      /^packages\/.*\.ts$/.test(file) && !isTest(file) && !/\.gen\.ts$|\/(?:interop|testing)\//.test(file),
  );
  assert.ok(product.length > 300);
  const methods = rows.flatMap(({ proofs }) =>
    proofs.filter(isNotOffered).flatMap((proof) => methodsIn(proof)),
  );
  assert.ok(methods.includes("nes/start"));
  const called = product.flatMap((file) =>
    methods.filter((method) => read(file).includes(`"${method}"`)).map((method) => `${file} has ${method}`),
  );
  assert.deepEqual(called, []);
});

/** Neither is a proof. */
function isLater(proof: string): boolean {
  return /^later: (?:model|agent|client|gateway|dialects|proxies)$/.test(proof) || isNotOffered(proof);
}

function isNotOffered(proof: string): boolean {
  return /^not offered: `[a-z/_]+`(?:, `[a-z/_]+`)*$/.test(proof);
}

function methodsIn(proof: string): string[] {
  return [...proof.matchAll(/`([^`]+)`/g)].map(([, method = ""]) => method);
}

function isProof(file: string, id: string): boolean {
  if (cited.get(file)?.has(id)) return true;
  // `N03${i}` in the data of bad inputs; their coverage test sees to it that each one exists
  return isSharedByTests(file) && files.includes(file) && read(file).includes(`${id.slice(0, 3)}\${`);
}
