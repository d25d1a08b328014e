// The layers of every package and the shape of files, checked on the sources. The linter reports most of this
// earlier, in the editor; this test is the one that cannot be switched off.

import assert from "node:assert/strict";
import { test } from "node:test";
import { entryFolder, folderOf, packageNames, sourcesOf } from "./folder-graph.ts";
import { type Import, importsOf, isTest, reachableFrom, read, repositoryFiles } from "./source-files.ts";

const library = "packages/acp/src/";
const libraryCode = sourcesOf("acp");
const sources = repositoryFiles().filter((file) => /\.(?:ts|tsx|mjs|js)$/.test(file));

/** The packages that each package may import. Test files and test support may import any. */
const packageMayImport: Readonly<Record<string, readonly string[]>> = {
  acp: [],
  agent: ["acp", "mcp", "review", "sandbox"],
  client: ["acp", "dialects", "sandbox"],
  conformance: ["acp", "dialects"],
  dialects: ["acp"],
  gateway: ["acp", "dialects"],
  mcp: ["acp"],
  review: ["acp"],
  sandbox: ["acp"],
  cli: ["acp", "agent", "client", "conformance", "dialects", "gateway", "mcp", "review", "sandbox"],
};

/** The layers of the library, lowest first, and what each may import besides itself. */
const layerMayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  jsonrpc: ["base"],
  validation: ["base"],
  redact: ["base"],
  wire: ["base", "validation"],
  model: ["base", "jsonrpc", "validation"],
  log: ["base", "jsonrpc", "model"],
  view: ["base", "jsonrpc", "validation", "wire", "model"],
  edition: ["base", "jsonrpc", "validation", "wire", "model"],
  transport: ["base", "jsonrpc", "validation", "wire", "model"],
  forward: ["base", "jsonrpc"],
  peer: ["base", "jsonrpc", "validation", "wire", "model", "log", "view", "edition", "transport", "forward"],
  testing: ["base", "jsonrpc", "model", "log", "view", "transport"],
  node: [
    "base",
    "jsonrpc",
    "validation",
    "wire",
    "model",
    "log",
    "view",
    "edition",
    "transport",
    "forward",
    "peer",
  ],
};

/** Folders that never see one another, in either direction. */
const separateFolders: readonly (readonly [string, string])[] = [
  ["peer/agent", "peer/client"],
  ["wire/v1", "wire/v2"],
  ["edition/v1", "edition/v2"],
];

function layerOf(file: string): string {
  return folderOf(file).split("/")[0] ?? "";
}

function violations(of: readonly string[], isWrong: (file: string, found: Import) => boolean): string[] {
  return of.flatMap((file) =>
    importsOf(file)
      .filter((found) => isWrong(file, found))
      .map((found) => `${file} imports ${found.specifier}`),
  );
}

/** The package of ours that an import names, by its name or by a path. */
function importedPackage({ specifier, target }: Import): string | undefined {
  return /^@parley\/([^/]+)/.exec(specifier)?.[1] ?? /^packages\/([^/]+)\//.exec(target ?? "")?.[1];
}

test("the reader of imports sees them", () => {
  // Without this, a change of style that it cannot read would make every rule below pass.
  const reached = reachableFrom([`${library}index.ts`], new Set(libraryCode));
  assert.ok(reached.size > 20, `only ${reached.size} files are reached from the entry point`);
  const specifiers = importsOf("test/layers.test.ts").map(({ specifier }) => specifier);
  assert.deepEqual(specifiers, ["node:assert/strict", "node:test", "./folder-graph.ts", "./source-files.ts"]);
});

test("every package and every folder of the library has its layer", () => {
  assert.deepEqual(Object.keys(packageMayImport).sort(), packageNames);
  const layers = new Set(libraryCode.map(layerOf).filter((layer) => layer !== entryFolder));
  assert.deepEqual([...layers].sort(), Object.keys(layerMayImport).sort());
});

for (const name of packageNames) {
  test(`packages/${name} imports only the packages below it, by their entry points`, () => {
    const wrong = violations(sourcesOf(name), (_, found) => {
      const other = importedPackage(found);
      if (other === undefined || other === name)
        return /^@parley\/[^/]+\/(?:src|dist)\b/.test(found.specifier);
      return found.target !== undefined || !packageMayImport[name]?.includes(other);
    });
    assert.deepEqual(wrong, []);
  });
}

test("packages/review knows no protocol: of acp it imports the parts for files and processes alone", () => {
  const wrong = violations(sourcesOf("review"), (_, { specifier }) => {
    return specifier.startsWith("@parley/") && specifier !== "@parley/acp/node";
  });
  assert.deepEqual(wrong, []);
});

test("imports inside the library point inward", () => {
  const wrong = violations(libraryCode, (file, { target }) => {
    const [from, to] = [layerOf(file), target === undefined ? undefined : layerOf(target)];
    if (from === entryFolder || to === undefined || from === to) return false;
    return !layerMayImport[from]?.includes(to);
  });
  assert.deepEqual(wrong, []);
});

for (const [one, other] of separateFolders) {
  test(`${one} and ${other} never see one another`, () => {
    const within = (path: string, folder: string) => path.startsWith(`${library}${folder}/`);
    const wrong = violations(libraryCode, (file, { target = "" }) => {
      return (within(file, one) && within(target, other)) || (within(file, other) && within(target, one));
    });
    assert.deepEqual(wrong, []);
  });
}

test("an entry point of one wire version loads nothing of the other", () => {
  for (const [entry, foreign] of [
    ["v1.gen.ts", "wire/v2/"],
    ["v2.gen.ts", "wire/v1/"],
  ] as const) {
    const loaded = [...reachableFrom([library + entry], new Set(libraryCode))];
    const wrong = loaded.filter((file) => file.startsWith(library + foreign));
    assert.deepEqual(wrong, [], entry);
  }
});

test("the wire of a version is loaded by its edition and its entry point only", () => {
  const wrong = violations(libraryCode, (file, { target }) => {
    const version = /\/wire\/(v\d)\//.exec(target ?? "")?.[1];
    const own = [`${library}wire/`, `${library}edition/${version}/`, `${library}${version}.gen.ts`];
    // dialects are translated to version 1
    if (file === `${library}internal-wire.ts` && version === "v1") return false;
    return version !== undefined && !own.some((path) => file.startsWith(path));
  });
  assert.deepEqual(wrong, []);
  // everything that agent() and client() load for a connection on version 1
  const used = ["edition/v1/agent.ts", "edition/v1/client.ts", "model/model-rules.ts"];
  const loaded = reachableFrom(
    used.map((file) => library + file),
    new Set(libraryCode),
  );
  assert.deepEqual(
    [...loaded].filter((file) => file.includes("/v2/")),
    [],
  );
});

test("the library knows no dialect by its name, except where it refuses those that are not enabled", () => {
  const shipped = libraryCode.filter((file) => !isTest(file) && !file.endsWith("edition/dialect-tells.ts"));
  assert.ok(shipped.length > 200);
  assert.deepEqual(
    shipped.filter((file) => /"(?:pharo|scoped)"/.test(read(file))),
    [],
  );
});

test("one file of the dialects imports the inside of the library", () => {
  const inside = violations(sourcesOf("dialects"), (_, { specifier }) => /\/internal\b/.test(specifier));
  assert.deepEqual(inside, ["packages/dialects/src/exchange/library.ts imports @parley/acp/internal/wire"]);
});

test("only src/node touches Node", () => {
  const forNode = [`${library}node.ts`, `${library}internal-node.ts`];
  const neutral = libraryCode.filter((file) => layerOf(file) !== "node" && !forNode.includes(file));
  const wrong = violations(neutral, (_, { specifier, target }) => {
    return specifier.startsWith("node:") || (target !== undefined && layerOf(target) === "node");
  });
  assert.deepEqual(wrong, []);
});

test("the library imports no package at all", () => {
  const wrong = violations(libraryCode, (_, { specifier, target }) => {
    return target === undefined && !specifier.startsWith("node:");
  });
  assert.deepEqual(wrong, []);
});

/** The entry points of all packages, as they are imported. */
const entryPoints = packageNames.flatMap((name) => {
  const manifest: { exports?: object } = JSON.parse(read(`packages/${name}/package.json`));
  return Object.keys(manifest.exports ?? {}).map((path) => `@parley/${name}${path.slice(1)}`);
});

test("everything of ours imports a package by its entry points", () => {
  assert.ok(entryPoints.length > 15, entryPoints.join(", "));
  const wrong = violations(sources, (file, { specifier, target = "" }) => {
    if (/^@parley\//.test(specifier)) return !entryPoints.includes(specifier);
    const source = /^packages\/[^/]+\/src\//.exec(target)?.[0];
    // a package's own tests may test a part on its own
    return source !== undefined && !file.startsWith(source.replace(/src\/$/, ""));
  });
  // the cost of the validators alone is measured, and they have no entry point
  const measured = "bench/parley/validate.ts imports ../../packages/acp/src/wire/";
  assert.deepEqual(
    wrong.filter((each) => !each.startsWith(measured)),
    [],
  );
});

test("examples and benchmarks use what everybody can use", () => {
  const outside = sources.filter((file) => /^(?:examples|bench)\//.test(file));
  assert.deepEqual(
    violations(outside, (_, { specifier }) => /\/internal\b/.test(specifier)),
    [],
  );
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
