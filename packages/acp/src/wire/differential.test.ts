// Proof that the generated validators say what the official schemas say: for every definition, over generated
// and damaged samples, accepted or not and the resulting value equal ajv's answer (see differential/oracle.ts).
// PARLEY_SAMPLES sets the samples per definition (100 unless told), PARLEY_SEED repeats a failure.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Failure, modes, type Validator } from "./decode.ts";
import { exceptions } from "./differential/exceptions.ts";
import { Oracle, type Schema } from "./differential/oracle.ts";
import { damaged, Random, validSample } from "./differential/samples.ts";
import * as v1 from "./v1/validators.gen.ts";
import * as v2 from "./v2/validators.gen.ts";

const samples = Number(process.env.PARLEY_SAMPLES ?? 100);
const seed = Number(process.env.PARLEY_SEED ?? 20_261_115);
const versions: Record<"v1" | "v2", Record<string, Validator>> = { v1, v2 };

const sdk = join(import.meta.dirname, "../../../../node_modules/@agentclientprotocol/sdk/schema");

function schemaOf(version: "v1" | "v2", stability: "stable" | "unstable"): Schema {
  const file = stability === "stable" ? "schema.json" : "schema.unstable.json";
  return JSON.parse(readFileSync(join(sdk, version, file), "utf8"));
}

function seedOf(text: string): number {
  let hash = seed;
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  return hash;
}

for (const version of ["v1", "v2"] as const) {
  for (const stability of ["stable", "unstable"] as const) {
    const mode = stability === "stable" ? 0 : modes.unstable;
    const validators = versions[version];
    const edits = exceptions.filter((each) => each.version === version);
    const lenient = new Oracle(schemaOf(version, stability), edits);

    test(`${version} ${stability}: every definition that describes a value has a validator`, () => {
      const envelope = /^(Agent|Client|Proxy|Ext)(Request|Response|Notification)$/;
      const missing = Object.keys(lenient.definitions).filter(
        (name) => !envelope.test(name) && !validators[name],
      );
      assert.deepEqual(missing, []);
    });

    test(`${version} ${stability}: verdict and value equal ajv with the official schema`, () => {
      const oracle = lenient;
      for (const name of Object.keys(oracle.definitions)) {
        const validate = validators[name];
        if (validate === undefined) continue;
        const random = new Random(seedOf(`${version} ${stability} ${name}`));
        for (let i = 0; i < samples; i++) {
          const clean = validSample(oracle.definitions, name, random);
          const text =
            i % 3 === 0
              ? JSON.stringify(clean)
              : damaged(clean, validSample(oracle.definitions, name, random), random);
          compare(oracle, name, validate, mode, text);
        }
      }
    });

    test(`${version} ${stability}: what strict mode lets out is valid as it is, and every clean sample gets out`, () => {
      const strictEdits = edits.filter((each) => !each.lenientOnly);
      const isSame = strictEdits.length === edits.length;
      const oracle = isSame ? lenient : new Oracle(schemaOf(version, stability), strictEdits);
      for (const name of Object.keys(oracle.definitions)) {
        const validate = validators[name];
        if (validate === undefined) continue;
        const random = new Random(seedOf(`strict ${version} ${stability} ${name}`));
        for (let i = 0; i < samples / 4; i++) {
          const clean = validSample(oracle.definitions, name, random);
          const report = `seed ${seed}, ${name}: ${JSON.stringify(clean)}`;
          const failure: Failure | undefined = validate(structuredClone(clean), mode | modes.strict);
          if (oracle.accepts(name, clean)) assert.equal(failure, undefined, report);
          const text = damaged(clean, validSample(oracle.definitions, name, random), random);
          const value = JSON.parse(text);
          if (validate(value, mode | modes.strict) !== undefined) continue;
          assert.ok(oracle.accepts(name, JSON.parse(text)), `seed ${seed}, ${name}: ${text}`);
          assert.deepEqual(value, JSON.parse(text), `strict mode changed ${text}`);
        }
      }
    });
  }
}

function compare(oracle: Oracle, name: string, validate: Validator, mode: number, text: string): void {
  const expected = oracle.decode(name, JSON.parse(text));
  const value = JSON.parse(text);
  const failure = validate(value, mode);
  const report = `seed ${seed}, ${name}: ${text}\nours: ${failure === undefined ? "accepted" : JSON.stringify(failure)}`;
  assert.equal(failure === undefined, expected.accepted, report);
  if (failure === undefined) {
    assert.deepEqual(value, expected.value, report);
    // Keeping what is unknown never refuses what is known.
    assert.equal(validate(JSON.parse(text), mode | modes.open), undefined, report);
  } else assert.ok(failure instanceof Failure && pointsSomewhere(failure.path, JSON.parse(text)), report);
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

const official = {
  v1: new Oracle(schemaOf("v1", "unstable")),
  v2: new Oracle(schemaOf("v2", "unstable")),
};

for (const { version, definition, reason, witness } of exceptions) {
  test(`${version} ${definition} still needs its exception: ${reason}`, () => {
    const expected = official[version].decode(definition, structuredClone(witness));
    const value = structuredClone(witness);
    const failure = versions[version][definition]?.(value, modes.unstable);
    const same = expected.accepted === (failure === undefined);
    if (!same || failure !== undefined)
      return assert.ok(!same, "the official schema and the validator agree");
    assert.notDeepEqual(value, expected.value, "the official schema and the validator agree");
  });
}
