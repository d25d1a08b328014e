// States the part of v2's schema that the model is derived from as one fact per field, and compares it with the
// committed one, so that no change of the draft becomes a change of the model unnoticed.

import { reachable } from "./model.ts";
import { modelDifferences } from "./model-differences.ts";
import { refName, type Schema, type SchemaPair, tagOf } from "./schema.ts";

/** Places such as `Diff.changes` or `SessionUpdate[sessionUpdate=notice]`, with what stands there. */
export type Basis = Readonly<Record<string, string>>;

/** How v2 salvages and routes values is no part of the model. */
const leftOut = /^(?:x-.*|default|mentionsAbsolute|not)$/;

export function v2Basis(v2: SchemaPair, taken: readonly string[] = modelDifferences.taken): Basis {
  const facts = new Map<string, string>();
  for (const name of reachable(v2.unstable, taken)) {
    const [schema, stable] = [v2.unstable[name], v2.stable[name]];
    if (schema !== undefined) state(facts, name, schema, stable, stable === undefined);
  }
  return Object.fromEntries([...facts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Throws, with every difference, where v2 is not what was accepted. */
export function requireAccepted(v2: SchemaPair, accepted: Basis): void {
  const changes = changesBetween(accepted, v2Basis(v2));
  if (changes.length === 0) return;
  throw new Error(`The part of v2's schema that the model is derived from has changed:
${changes.map((change) => `  ${change}`).join("\n")}
Decide for each line whether the model follows. If it does not, say so in scripts/generate/model-differences.ts.
Then run: npm run generate -- --accept-v2
Where the model and v2's wire differ afterwards, edition/v2 must translate: npm run check -- types says where.`);
}

/** One line for each place that was added, removed or changed. */
function changesBetween(accepted: Basis, current: Basis): string[] {
  const places = [...new Set([...Object.keys(accepted), ...Object.keys(current)])].toSorted();
  return places.flatMap((place) => {
    const [before, after] = [accepted[place], current[place]];
    if (before === after) return [];
    if (before === undefined) return [`added ${place}: ${after}`];
    if (after === undefined) return [`removed ${place}: ${before}`];
    return [`changed ${place}: from ${before} to ${after}`];
  });
}

/** `stable` is the same definition in the stable schema; without it, nothing inside is marked as unstable. */
function state(
  facts: Map<string, string>,
  place: string,
  schema: Schema,
  stable: Schema | undefined,
  isNew: boolean,
): void {
  const { properties = {}, required = [], anyOf, oneOf, ...rest } = schema;
  const branches = anyOf ?? oneOf ?? [];
  const isUnion = branches.some((branch) => branch.properties !== undefined);
  facts.set(
    place,
    inWords(isUnion ? { type: "union", ...rest } : { ...rest, anyOf: branches }) + mark(isNew),
  );
  for (const [field, property] of Object.entries(properties)) {
    const optional = required.includes(field) ? "" : ", optional";
    const added = stable !== undefined && !(field in (stable.properties ?? {}));
    facts.set(`${place}.${field}`, inWords(property) + optional + mark(added));
  }
  if (!isUnion) return;
  const stableTags = new Set((stable?.anyOf ?? stable?.oneOf ?? []).map((branch) => tagOf(branch)?.value));
  for (const branch of branches) {
    const { tag = "", value } = tagOf(branch) ?? {};
    const name = value === undefined ? (branch.not ? "unknown" : "untagged") : `${tag}=${value}`;
    if (facts.has(`${place}[${name}]`)) throw new Error(`${place}: has two ${name} branches`);
    const { [tag]: _, ...further } = branch.properties ?? {};
    const added = stable !== undefined && !stableTags.has(value);
    state(facts, `${place}[${name}]`, { ...branch, properties: further }, undefined, added);
  }
}

const mark = (unstable: boolean): string => (unstable ? ", unstable" : "");

function inWords(schema: Schema): string {
  const { $ref: _ref, allOf, type, const: constant, items, anyOf, oneOf, ...rest } = schema;
  const name = refName(schema);
  const types = [type ?? []].flat().map((each) => (each === "array" ? `${inWords(items ?? {})}[]` : each));
  const words = constant !== undefined ? [JSON.stringify(constant)] : name !== undefined ? [name] : types;
  const further = Object.entries({ ...rest, ...(name === undefined && allOf ? { allOf } : {}) })
    .filter(([key, value]) => !leftOut.test(key) && !(key === "additionalProperties" && value === true))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `, ${key} ${JSON.stringify(value)}`);
  const choices = (anyOf ?? oneOf ?? []).map(inWords);
  return ([...words, ...choices].join(" | ") || "any") + further.join("");
}
