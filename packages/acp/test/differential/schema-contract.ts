// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Compares the generated validators with ajv and the official schemas, over generated and damaged samples.
// PARLEY_SAMPLES sets the samples per definition, PARLEY_SEED repeats a failure.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Failure, modes, type Validator } from "../../src/wire/decode.ts";
import { Random } from "../support/random.ts";
import { inSoak } from "../support/soak.ts";
import { exceptions } from "./exceptions.ts";
import { Oracle, type Schema } from "./oracle.ts";
import { damaged, validSample } from "./samples.ts";

const samples = Number(process.env.PARLEY_SAMPLES ?? inSoak(150, 1_000));
const seed = Number(process.env.PARLEY_SEED ?? 20_261_115);

type Version = "v1" | "v2";

const envelope = /^(Agent|Client|Proxy|Ext)(Request|Response|Notification)$/;
const sdk = join(import.meta.dirname, "../../../../node_modules/@agentclientprotocol/sdk/schema");

export function schemaOf(version: Version, stability: "stable" | "unstable"): Schema {
  const file = stability === "stable" ? "schema.json" : "schema.unstable.json";
  return JSON.parse(readFileSync(join(sdk, version, file), "utf8"));
}

function seedOf(text: string): number {
  let hash = seed;
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  return hash;
}

/** Definitions with many branches get more samples, or the rare ones would hardly be seen. */
function rounds(definition: Schema | undefined): number {
  const branches = (definition?.anyOf ?? definition?.oneOf ?? []).length;
  return Math.ceil(samples * Math.max(1, branches / 3));
}

/** Registers the tests of one version. */
export function schemaContract(version: Version, validators: Readonly<Record<string, Validator>>): void {
  // Also what only the unstable protocol knows is tried on the stable one, where it must be unknown.
  const everything = new Oracle(schemaOf(version, "unstable")).definitions;

  for (const stability of ["stable", "unstable"] as const) {
    const mode = stability === "stable" ? 0 : modes.unstable;
    const edits = exceptions.filter((each) => each.version === version);
    const oracle = new Oracle(schemaOf(version, stability), edits);
    const strictEdits = edits.filter((each) => !each.lenientOnly);
    const isSame = strictEdits.length === edits.length;
    const strictOracle = isSame ? oracle : new Oracle(schemaOf(version, stability), strictEdits);
    const names = Object.keys(oracle.definitions).filter((name) => !envelope.test(name));

    test(`${version} ${stability}: every definition that describes a value has a validator`, () => {
      assert.deepEqual(
        names.filter((name) => validators[name] === undefined),
        [],
      );
    });

    test(`${version} ${stability}: verdict, value and place equal ajv with the official schema (X10)`, () => {
      for (const name of names) {
        const random = new Random(seedOf(`${version} ${stability} ${name}`));
        for (let i = rounds(oracle.definitions[name]); i > 0; i--) {
          const source = random.chance(0.3) ? everything : oracle.definitions;
          const clean = validSample(source, name, random);
          const other = validSample(source, name, random);
          const text = i % 3 === 0 ? JSON.stringify(clean) : damaged(clean, other, random);
          compare({ oracle, name, validate: validatorOf(validators, name), mode, text });
        }
      }
    });

    test(`${version} ${stability}: what strict mode lets out is valid as it is, and every clean sample gets out (X2)`, () => {
      for (const name of names) {
        const validate = validatorOf(validators, name);
        const random = new Random(seedOf(`strict ${version} ${stability} ${name}`));
        for (let i = rounds(oracle.definitions[name]) / 4; i > 0; i--) {
          const clean = validSample(oracle.definitions, name, random);
          if (strictOracle.accepts(name, clean)) letsOut(name, validate, mode | modes.strict, clean);
          const text = damaged(clean, validSample(everything, name, random), random);
          const value = JSON.parse(text);
          if (validate(value, mode | modes.strict) !== undefined) continue;
          assert.ok(strictOracle.accepts(name, JSON.parse(text)), `seed ${seed}, ${name}: ${text}`);
          assert.deepEqual(value, JSON.parse(text), `strict mode changed ${text}`);
        }
      }
    });
  }

  const official = new Oracle(schemaOf(version, "unstable"));
  for (const { definition, reason, witness } of exceptions.filter((each) => each.version === version)) {
    test(`${version} ${definition} still needs its exception: ${reason}`, () => {
      const expected = official.decode(definition, structuredClone(witness));
      const value = structuredClone(witness);
      const failure = validators[definition]?.(value, modes.unstable);
      const same = expected.accepted === (failure === undefined);
      if (!same || failure !== undefined)
        return assert.ok(!same, "the official schema and the validator agree");
      assert.notDeepEqual(value, expected.value, "the official schema and the validator agree");
    });
  }
}

function validatorOf(validators: Readonly<Record<string, Validator>>, name: string): Validator {
  const validate = validators[name];
  assert.ok(validate, `${name} has no validator`);
  return validate;
}

/** A clean value may be sent; with a field of one's own it may not, and that field is what the error names (X2). */
function letsOut(name: string, validate: Validator, mode: number, value: unknown): void {
  const report = `seed ${seed}, ${name}: ${JSON.stringify(value)}`;
  assert.equal(validate(structuredClone(value), mode), undefined, report);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  assert.equal(validate({ ...value, zzCustom: undefined }, mode), undefined, report);
  const failure = validate({ ...value, zzCustom: 1 }, mode);
  // The open branch of a union takes any field as its payload.
  if (failure !== undefined) assert.equal(failure.path, "/zzCustom", report);
}

interface Trial {
  oracle: Oracle;
  name: string;
  validate: Validator;
  mode: number;
  text: string;
}

function compare({ oracle, name, validate, mode, text }: Trial): void {
  const expected = oracle.decode(name, JSON.parse(text));
  const value = JSON.parse(text);
  const failure = validate(value, mode);
  const report = `seed ${seed}, ${name}: ${text}\nours: ${failure === undefined ? "accepted" : JSON.stringify(failure)}`;
  assert.equal(failure === undefined, expected.accepted, report);
  if (failure === undefined) {
    assert.deepEqual(value, expected.value, report);
    // Keeping what is unknown never refuses what is known.
    assert.equal(validate(JSON.parse(text), mode | modes.open), undefined, report);
    return;
  }
  assert.ok(failure instanceof Failure && pointsSomewhere(failure.path, JSON.parse(text)), report);
  if (oracle.isWrongAt(name, expected.value, failure.path)) return;
  assert.fail(`${report}\najv: wrong at ${[...oracle.wrongPlaces(name, expected.value)].join(", ")}`);
}

/** Every step of the pointer but the last exists in the value, so that a reader can follow it. */
function pointsSomewhere(path: string, value: unknown): boolean {
  let at = value;
  for (const part of path.split("/").slice(1)) {
    if (typeof at !== "object" || at === null) return false;
    at = (at as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return true;
}
