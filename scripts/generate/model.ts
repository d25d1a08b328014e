// Builds the model's types and validators from v2's schema and the list of our differences.

import { type ModelDifferences, modelDifferences } from "./model-differences.ts";
import { modelTexts } from "./model-texts.ts";
import { patchesFor } from "./patches.ts";
import { type Definitions, type Schema, type SchemaPair, tagOf } from "./schema.ts";
import { type Definition, shapesOf } from "./shapes.ts";
import { typesModule } from "./types.ts";
import type { ValidatorOptions } from "./validators.ts";

/** The text of the model's types.gen.ts, and what its validators.gen.ts is made of. Throws where a difference fits v2 no more. */
export function modelModules(
  v2: SchemaPair,
  differences: ModelDifferences = modelDifferences,
): { types: string; definitions: ReadonlyMap<string, Definition>; validators: ValidatorOptions } {
  requireFits(v2.unstable, differences);
  const name = (theirs: string): string => differences.renamed[theirs] ?? theirs;
  const isPatch = patchesFor("v2", v2.unstable);
  const pair: SchemaPair = {
    version: "v2",
    stable: withoutNulls(applied(v2.stable, differences), isPatch),
    unstable: withoutNulls(applied(v2.unstable, differences), isPatch),
  };
  const shapes = shapesOf(pair, differences.checks);
  const wanted = reachable(pair.unstable, differences.taken.map(name));
  const definitions = new Map([...shapes].filter(([each]) => wanted.has(each)));
  for (const [union, variant] of Object.entries(differences.unknownVariants)) {
    nameUnknownVariant(definitions.get(name(union)), variant);
  }
  return {
    types: typesModule(definitions, {
      imports: {
        "../validation/unknown-tag.ts": ["Meta", "UnknownTag"],
        "./unknown-update.ts": Object.values(differences.unknownVariants),
      },
      forModel: true,
      texts: modelTexts,
    }),
    definitions,
    validators: {
      runtime: "../validation/failure.ts",
      exported: differences.validated.map(name),
      namesNull: true,
    },
  };
}

/** These definitions and all that they refer to, directly or not. */
export function reachable(definitions: Definitions, roots: readonly string[]): Set<string> {
  const names = new Set(roots);
  // what is added to a set while it is walked is walked too
  for (const name of names) {
    const text = JSON.stringify(definitions[name] ?? {});
    for (const [, found = ""] of text.matchAll(/"#\/\$defs\/(\w+)"/g)) names.add(found);
  }
  return names;
}

function applied(given: Definitions, differences: ModelDifferences): Definitions {
  const { removed, added, defined, renamed } = differences;
  const definitions = structuredClone({ ...given, ...defined });
  for (const place of removed) remove(definitions, place);
  for (const [name, { properties, required = [], anyOf = [], ...rules }] of Object.entries(added)) {
    const schema = definitions[name];
    if (schema === undefined) continue;
    if (properties !== undefined) schema.properties = { ...properties, ...schema.properties };
    if (required.length > 0) schema.required = [...(schema.required ?? []), ...required];
    if (anyOf.length > 0) schema.anyOf = [...anyOf, ...(schema.anyOf ?? [])];
    Object.assign(schema, rules);
  }
  // the model is what we say ourselves: there is nothing to salvage
  let text = JSON.stringify(definitions, (key, value) =>
    key.startsWith("x-deserialize-") ? undefined : value,
  );
  for (const [theirs, ours] of Object.entries(renamed)) {
    text = text.replaceAll(`"#/$defs/${theirs}"`, `"#/$defs/${ours}"`);
  }
  const entries = Object.entries(JSON.parse(text) as Definitions);
  return Object.fromEntries(entries.map(([name, schema]) => [renamed[name] ?? name, schema]));
}

/** The model has null only where it clears a value; the decoders remove it elsewhere. */
function withoutNulls(
  definitions: Definitions,
  isPatch: (definition: string, field: string) => boolean,
): Definitions {
  for (const [name, schema] of Object.entries(definitions))
    removeNulls(schema, (field) => isPatch(name, field));
  return definitions;
}

function removeNulls(schema: Schema, isPatch: (field: string) => boolean): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (isPatch(name) || schema.required?.includes(name)) continue;
    if (Array.isArray(property.type)) property.type = property.type.filter((type) => type !== "null");
    if (property.anyOf) property.anyOf = property.anyOf.filter(({ type }) => type !== "null");
  }
  for (const branch of schema.anyOf ?? schema.oneOf ?? []) removeNulls(branch, isPatch);
}

/** Removes a field or a variant; says whether it was there. */
function remove(definitions: Definitions, place: string): boolean {
  const [, name = "", field, value] = /^(\w+)(?:\.(\w+)|\[\w+=(\w+)\])$/.exec(place) ?? [];
  const schema = definitions[name] ?? {};
  if (field !== undefined) {
    if (schema.properties?.[field] === undefined) return false;
    delete schema.properties[field];
    schema.required = (schema.required ?? []).filter((each) => each !== field);
    return true;
  }
  const branches = schema.anyOf ?? schema.oneOf ?? [];
  const at = value === undefined ? -1 : branches.findIndex((branch) => tagOf(branch)?.value === value);
  return at >= 0 && branches.splice(at, 1).length > 0;
}

/** Every difference must still mean something, or else v2 has changed under it. */
function requireFits(given: Definitions, differences: ModelDifferences): void {
  const { taken, validated, renamed, removed, added, defined, unknownVariants } = differences;
  const v2 = structuredClone({ ...given, ...defined });
  const named = [taken, validated, ...[renamed, added, unknownVariants].map(Object.keys)].flat();
  const problems = [
    ...named.filter((name) => !(name in v2)).map((name) => `${name}: v2 does not have it`),
    ...Object.values(renamed)
      .filter((name) => name in v2)
      .map((name) => `${name}: v2 has a definition of this name`),
    ...removed
      .filter((place) => !remove(v2, place))
      .map((place) => `${place}: v2 does not have it, so it cannot be removed`),
    ...Object.entries(added).flatMap(([name, { properties = {}, anyOf = [] }]) => [
      ...Object.keys(properties)
        .filter((field) => field in (v2[name]?.properties ?? {}))
        .map((field) => `${name}.${field}: v2 has it already`),
      ...anyOf
        .map((branch) => tagOf(branch)?.value)
        .filter((value) => v2[name]?.anyOf?.some((branch) => tagOf(branch)?.value === value))
        .map((value) => `${name}[${value}]: v2 has it already`),
    ]),
  ];
  if (problems.length === 0) return;
  const lines = [...new Set(problems)].map((problem) => `  ${problem}`).join("\n");
  throw new Error(`scripts/generate/model-differences.ts does not fit v2's schema:\n${lines}`);
}

function nameUnknownVariant(definition: Definition | undefined, variant: string): void {
  const union = definition?.node.kind === "record" ? definition.node.record.union : undefined;
  if (union?.kind !== "tagged" || union.other === undefined) {
    throw new Error(`${definition?.name}: has no variant for unknown tags that could be ${variant}`);
  }
  union.other = { ...union.other, from: variant };
}
