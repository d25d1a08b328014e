import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { checksFor } from "./checks.ts";
import { generatedFiles, staleFiles } from "./output.ts";
import { loadSchemas, type Schema, schemaPair } from "./schema.ts";

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
    for (const [, from] of text.matchAll(/ from "([^"]+)"/g)) {
      assert.match(from ?? "", /^(?:\.\.?|\.\.(?:\/\.\.)?\/validation)\/[a-z.-]+\.ts$/, path);
    }
  }
});

function sentences(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = (value as { description?: unknown }).description;
  const parts = typeof own === "string" ? own.replace(/\s+/g, " ").split(/(?<=\.) /) : [];
  return [...parts.filter((part) => part.split(" ").length > 3), ...Object.values(value).flatMap(sentences)];
}
