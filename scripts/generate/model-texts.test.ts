import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { modelTexts } from "./model-texts.ts";

const file = join(import.meta.dirname, "../../packages/acp/src/model/types.gen.ts");
const source = readFileSync(file, "utf8");
const types = new Map(
  [...source.matchAll(/^export (?:type|interface) (\w+)([\s\S]*?)(?=^export |(?![\s\S]))/gm)].map(
    ([, name = "", text = ""]) => [name, text],
  ),
);

test("every type of the model has a hover text", () => {
  assert.deepEqual(
    [...types.keys()].filter((name) => modelTexts[name] === undefined),
    [],
  );
});

test("every hover text of the model belongs to a type or a field that exists", () => {
  const unknown = Object.keys(modelTexts).filter((place) => {
    const [type = "", field] = place.split(".");
    const text = types.get(type);
    return text === undefined || (field !== undefined && !new RegExp(`readonly ${field}\\??:`).test(text));
  });
  assert.deepEqual(unknown, []);
});
