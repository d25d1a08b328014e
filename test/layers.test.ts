// The layers of the library and the shape of files, checked on the sources themselves. The linter
// says most of this earlier, in the editor; this test is the one that cannot be switched off.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Import, importsOf, isTest, reachableFrom, read, repositoryFiles } from "./source-files.ts";

const library = "packages/acp/src/";
const entryPoints = [
  "index.ts",
  "v1.ts",
  "v2.ts",
  "view.ts",
  "redact.ts",
  "testing.ts",
  "internal.ts",
  "node.ts",
].map((name) => library + name);

/** What each folder of the library may import besides itself. Imports point inward. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  jsonrpc: ["base"],
  wire: ["base"],
  redact: ["base"],
  // The model is the second version's decoded JSON, so it is written in terms of its types.
  model: ["base", "wire", "jsonrpc"],
  view: ["base", "jsonrpc", "wire", "model"],
  edition: ["base", "jsonrpc", "wire", "model"],
  transport: ["base", "jsonrpc", "wire", "model"],
  peer: ["base", "jsonrpc", "wire", "model", "view", "edition", "transport"],
  testing: ["base", "jsonrpc", "wire", "model", "view", "edition", "transport", "peer"],
  node: ["base", "jsonrpc", "wire", "model", "view", "edition", "transport", "peer", "testing"],
};

/** Folders that hold tests and what they need, such as programs that are started and never imported. */
const testSupport = ["packages/acp/test/"];

const files = repositoryFiles();
const sources = files.filter((file) => /\.(?:ts|tsx|mjs|js)$/.test(file));
const code = sources.filter((file) => !isTest(file));
const libraryCode = code.filter((file) => file.startsWith(library));
// Oracles and the like: files that only tests load may use what tests may use.
const shipped = reachableFrom(entryPoints, new Set(libraryCode));
const loadedByTests = reachableFrom(sources.filter(isTest), new Set(sources));
const testOnly = new Set(
  sources.filter(
    (file) =>
      !shipped.has(file) &&
      (loadedByTests.has(file) || testSupport.some((folder) => file.startsWith(folder))),
  ),
);

function layerOf(file: string): string | undefined {
  const [folder, rest] = file.slice(library.length).split("/");
  return file.startsWith(library) && rest !== undefined ? folder : undefined;
}

function violations(of: readonly string[], isWrong: (file: string, found: Import) => boolean): string[] {
  return of.flatMap((file) =>
    importsOf(file)
      .filter((found) => isWrong(file, found))
      .map((found) => `${file} imports ${found.specifier}`),
  );
}

test("the reader of imports sees them", () => {
  // Without this, a change of style that it cannot read would make every rule below pass.
  assert.ok(shipped.size > 20, `only ${shipped.size} files are reached from the entry points`);
  const specifiers = importsOf("test/layers.test.ts").map(({ specifier }) => specifier);
  assert.deepEqual(specifiers, ["node:assert/strict", "node:test", "./source-files.ts"]);
});

test("every folder of the library has a place among the layers", () => {
  const homeless = libraryCode.filter((file) => {
    const layer = layerOf(file);
    return layer !== undefined && !(layer in mayImport) && !testOnly.has(file);
  });
  assert.deepEqual(homeless, []);
});

test("imports inside the library point inward", () => {
  const wrong = violations(libraryCode, (file, { target }) => {
    const from = layerOf(file);
    const to = target === undefined ? undefined : layerOf(target);
    if (from === undefined || to === undefined || from === to || testOnly.has(file)) return false;
    return !mayImport[from]?.includes(to);
  });
  assert.deepEqual(wrong, []);
});

test("no layer imports an entry point", () => {
  const wrong = violations(
    libraryCode.filter((file) => !testOnly.has(file)),
    (_, { target }) => target !== undefined && entryPoints.includes(target),
  );
  assert.deepEqual(wrong, []);
});

test("the two versions of the wire never see one another", () => {
  const inside = violations(libraryCode, (file, { target }) => {
    const versions = [file, target ?? ""].map((path) => /\/wire\/(v\d)\//.exec(path)?.[1]);
    return versions[0] !== undefined && versions[1] !== undefined && versions[0] !== versions[1];
  });
  assert.deepEqual(inside, []);
  for (const [entry, foreign] of [
    ["v1.ts", "wire/v2/"],
    ["v2.ts", "wire/v1/"],
  ] as const) {
    const loaded = reachableFrom([library + entry], new Set(libraryCode));
    assert.deepEqual(
      [...loaded].filter((file) => file.startsWith(library + foreign)),
      [],
      entry,
    );
  }
});

test("only src/node touches Node", () => {
  const neutral = libraryCode.filter(
    (file) => layerOf(file) !== "node" && file !== `${library}node.ts` && !testOnly.has(file),
  );
  assert.deepEqual(
    violations(neutral, (_, { specifier }) => specifier.startsWith("node:")),
    [],
  );
  assert.deepEqual(
    violations(neutral, (_, { target }) => target !== undefined && layerOf(target) === "node"),
    [],
  );
});

test("the library imports no package at all", () => {
  const wrong = violations([...shipped], (_, { specifier, target }) => {
    return target === undefined && !specifier.startsWith("node:");
  });
  assert.deepEqual(wrong, []);
});

test("packages see one another by public entry points only", () => {
  // Benchmarks may measure a part on its own.
  const outside = sources.filter((file) => !file.startsWith("packages/acp/") && !file.startsWith("bench/"));
  const wrong = violations(outside, (file, { specifier, target }) => {
    if (target === undefined) return /^@parley\/[^/]+\/(?:src|dist)\b/.test(specifier);
    const own = /^packages\/[^/]+\//.exec(file)?.[0];
    const other = /^packages\/[^/]+\//.exec(target)?.[0];
    // tests, test support and scripts may share test support
    const isShared = target.includes("/test/") && !file.includes("/src/");
    return other !== undefined && other !== own && !isTest(file) && !isShared;
  });
  assert.deepEqual(wrong, []);
});

test("a file has at most 400 lines, a test 600, and generated files are as long as they are", () => {
  const long = sources
    .filter((file) => !file.endsWith(".gen.ts"))
    .map((file) => ({ file, lines: read(file).trimEnd().split("\n").length }))
    .filter(({ file, lines }) => lines > (isTest(file) ? 600 : 400))
    .map(({ file, lines }) => `${file}: ${lines} lines`);
  assert.deepEqual(long, []);
});

test("files are named after what they hold", () => {
  const vague = /(?:^|[/.-])(?:utils?|helpers?|common|misc)(?:[.-]|\/|$)/;
  const wrong = sources.filter((file) => !file.endsWith(".gen.ts") && vague.test(file));
  assert.deepEqual(wrong, []);
});
