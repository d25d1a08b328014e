// Checks one value against one type of the schema of a version, for the entry points of the raw wire.

import { nearestWord } from "../../base/nearest-word.ts";
import { modes, type Validator } from "../../wire/decode.ts";

/** Why a value does not have a type of the schema. Never contains the value itself. */
export interface SchemaProblem {
  /** The location as a JSON pointer: `/content/text`; empty for the value itself. */
  readonly path: string;
  /** What the schema demands there. */
  readonly expected: string;
  /** What is there: a type, or a short literal if the type was right. */
  readonly got: string;
}

export function problemOfType(
  types: Readonly<Record<string, Validator>>,
  type: string,
  value: unknown,
): SchemaProblem | undefined {
  const validate = Object.hasOwn(types, type) ? types[type] : undefined;
  if (validate !== undefined) return validate(value, modes.strict | modes.unstable);
  const near = nearestWord(type, Object.keys(types));
  throw new TypeError(
    `schemaProblem: the schema has no type ${JSON.stringify(type)}${near === undefined ? "" : `; did you mean ${near}?`}`,
  );
}
