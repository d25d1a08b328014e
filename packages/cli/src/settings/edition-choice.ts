// Reads the options that name editions of the protocol, and what a log says is lost between them.

import type { NamedEdition } from "@parley/dialects";
import { type Invocation, usageError } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** A dialect is spoken only where it is named. */
export const editionNames = ["v1", "v2", "pharo", "scoped"] as const satisfies readonly NamedEdition[];

const page = "docs/editions.md says which edition is spoken when";

/** One edition; undefined where none was typed. */
export function editionOption(values: Invocation["values"], name = "edition"): NamedEdition | undefined {
  const given = textOption(values, name);
  return given === undefined ? undefined : editionOf(given, name);
}

/** Editions with commas between them. */
export function editionsOption(
  values: Invocation["values"],
): readonly [NamedEdition, ...NamedEdition[]] | undefined {
  const given = textOption(values, "edition");
  if (given === undefined) return undefined;
  const [first = "", ...others] = given.split(",").map((word) => word.trim());
  return [editionOf(first, "edition"), ...others.map((word) => editionOf(word, "edition"))];
}

function editionOf(given: string, option: string): NamedEdition {
  const found = editionNames.find((each) => each === given);
  if (found !== undefined) return found;
  const got = given === "" ? "nothing" : escapedLine(given);
  throw usageError(`--${option}: expected ${editionNames.join(", ")}, got ${got}`, page);
}

/** The losses in the details of a log entry, in words for a person. */
export function lossesIn(details: unknown): readonly string[] {
  const { lost } = (details ?? {}) as { lost?: unknown };
  return Array.isArray(lost) ? lost.map(String) : [];
}
