import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { checksFor } from "./checks.ts";
import { featureOf, featurePlaces } from "./feature-places.ts";
import { generatedFiles } from "./output.ts";
import { patchesFor } from "./patches.ts";
import { loadSchemas, type Schema, schemaPair } from "./schema.ts";
import { shapesOf } from "./shapes.ts";
import { staleFiles } from "./stale-files.ts";

const files = generatedFiles();

test("a file that was edited by hand, or never written, is named as stale", () => {
  const [first, second] = [...files.keys()];
  const committed = (path: string): string | undefined =>
    path === first ? `${files.get(path)}// edited\n` : path === second ? undefined : files.get(path);
  assert.deepEqual(staleFiles(files, committed), [first, second]);
});

test("a constraint that differs between the stable and the unstable schema stops the generator", () => {
  const stable = { Thing: { type: "object", properties: { size: { type: "integer", minimum: 0 } } } };
  const changed = { Thing: { type: "object", properties: { size: { type: "integer", minimum: 1 } } } };
  assert.throws(() => schemaPair("v1", stable, changed), /v1 Thing.size: minimum differs/);
  const required = { Thing: { ...stable.Thing, required: ["size"] } };
  assert.throws(() => schemaPair("v1", stable, required), /v1 Thing: required differs/);
  assert.throws(() => schemaPair("v1", stable, {}), /v1 Thing: is stable but missing/);
});

test("an absolute path that nobody listed stops the generator, and so does a listed field that is gone (X11)", () => {
  const { unstable } = loadSchemas("v1");
  const path: Schema = { type: "string", mentionsAbsolute: true };
  const added = { ...unstable, Thing: { type: "object", properties: { path } } };
  assert.throws(() => checksFor("v1", added), /v1 Thing.path: the schema calls it an absolute path/);
  const { Diff: _, ...rest } = unstable;
  assert.throws(() => checksFor("v1", rest), /v1 Diff.path: checks.ts lists it/);
});

test("an unstable part that belongs to no feature stops the generator, and every listed part is unstable", () => {
  assert.throws(
    () => featureOf("Notice.mood"),
    /Notice.mood: is unstable, but .*feature-places.ts lists it for/,
  );
  const found = new Set<string>();
  for (const version of ["v1", "v2"] as const) {
    const pair = loadSchemas(version);
    for (const { name, node } of shapesOf(pair).values()) {
      if (node.kind !== "record") continue;
      const { fields, union } = node.record;
      for (const field of fields) if (field.unstable) found.add(`${name}.${field.name}`);
      if (union?.kind !== "tagged") continue;
      for (const { unstable, values } of union.cases)
        if (unstable) for (const value of values) found.add(`${name}[${union.tag}=${value}]`);
    }
    for (const [name, schema] of Object.entries(pair.unstable))
      if (schema["x-method"] !== undefined && !(name in pair.stable)) found.add(schema["x-method"]);
  }
  assert.deepEqual([...found].toSorted(), Object.values(featurePlaces).flat().toSorted());
});

test("a patch that the schema does not have stops the generator", () => {
  const { SessionInfoUpdate: _, ...rest } = loadSchemas("v1").unstable;
  assert.throws(() => patchesFor("v1", rest), /v1 SessionInfoUpdate: patches.ts lists it/);
});

test("no sentence of the schema's prose is copied", () => {
  const text = [...files.values()].join("\n").replace(/\s+/g, " ");
  const folder = join(import.meta.dirname, "../../node_modules/@agentclientprotocol/sdk/schema");
  for (const file of ["v1/schema.unstable.json", "v2/schema.unstable.json"]) {
    for (const sentence of sentences(JSON.parse(readFileSync(join(folder, file), "utf8")))) {
      assert.ok(!text.includes(sentence), `copied: ${sentence}`);
    }
  }
});

test("generated code imports its neighbours and what validators share, and nothing of another version", () => {
  for (const [path, text] of files) {
    const isOfDialect = path.startsWith("packages/dialects/");
    // an entry point stands on the peers
    if (/\/v[12]\.gen\.ts$/.test(path)) continue;
    for (const [, from = ""] of text.matchAll(/ from "([^"]+)"/g)) {
      if (isOfDialect && ["../../exchange/library.ts", "@parley/acp/v1"].includes(from)) continue;
      assert.match(from, /^(?:\.\.?|\.\.(?:\/\.\.)?\/validation)\/[a-z.-]+\.ts$/, path);
    }
  }
});

function sentences(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = (value as { description?: unknown }).description;
  const parts = typeof own === "string" ? own.replace(/\s+/g, " ").split(/(?<=\.) /) : [];
  return [...parts.filter((part) => part.split(" ").length > 3), ...Object.values(value).flatMap(sentences)];
}
