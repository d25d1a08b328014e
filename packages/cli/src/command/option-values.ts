// Parses option values that are numbers, times or sizes.

import { escapedLine } from "../terminal/sanitise.ts";
import type { Invocation } from "./command.ts";
import { usageError } from "./command-error.ts";

export function countOption(values: Invocation["values"], name: string, otherwise: number): number {
  const given = values[name];
  if (typeof given !== "string") return otherwise;
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given);
  throw usageError(
    `--${name}: expected a number from 1 to 999999, got ${escapedLine(given)}`,
    `give a number, or omit --${name}`,
  );
}

const timeUnits: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds in `90`, `10m` or `30d`; `unit` is that of a number alone. Undefined if it is not a time in `units`. */
export function parseTime(given: string, units: readonly string[], unit?: string): number | undefined {
  const [, number, typed = unit ?? ""] = /^(\d{1,9}(?:\.\d{1,9})?)([a-z]+)?$/.exec(given) ?? [];
  const time = Number(number) * (timeUnits[typed] ?? Number.NaN);
  return units.includes(typed) && time > 0 ? time : undefined;
}

const sizeUnits: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Bytes in `4096`, `64k`, `32m` or `1g`; undefined for anything else. */
export function parseSize(given: unknown): number | undefined {
  const [, number, unit = ""] = /^([1-9]\d{0,11})([kmg]?)$/i.exec(String(given)) ?? [];
  return number === undefined ? undefined : Number(number) * (sizeUnits[unit.toLowerCase()] ?? 1);
}
