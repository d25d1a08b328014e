// Reads and parses the values of options.

import { resolve } from "node:path";
import { escapedLine } from "../terminal/sanitise.ts";
import { type Invocation, usageError } from "./command.ts";

type Values = Invocation["values"];

export function textOption(values: Values, name: string): string | undefined {
  const given = values[name];
  return typeof given === "string" ? given : undefined;
}

/** `--cwd` as an absolute path. */
export function directoryOption(values: Values): string | undefined {
  const given = textOption(values, "cwd");
  return given === undefined ? undefined : resolve(given);
}

/** The values of an option that may be repeated. */
export function listOption(values: Values, name: string): string[] {
  return [values[name] ?? []].flat().filter((value): value is string => typeof value === "string");
}

/** Seconds as milliseconds. */
export function secondsOption(values: Values, name: string): number | undefined {
  const given = values[name];
  if (given === undefined) return undefined;
  if (Number(given) > 0) return Number(given) * 1000;
  throw usageError(
    `--${name}: expected seconds, such as 60 or 0.5, got ${escapedLine(String(given))}`,
    `give a number, or omit --${name}`,
  );
}

/** `NAME=VALUE`; the error does not quote it, since the value may be secret. */
export function assignment(name: string, given: string): [name: string, value: string] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  throw usageError(`--${name}: expected NAME=VALUE`, `for example: --${name} NAME=VALUE`);
}

export function countOption(values: Values, name: string, otherwise: number): number {
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

/** Bytes in `4096`, `64k`, `32m` or `1g`. */
export function sizeOption(values: Values, name: string): number {
  const [, number, unit = ""] = /^([1-9]\d{0,11})([kmg]?)$/i.exec(String(values[name])) ?? [];
  if (number !== undefined) return Number(number) * (sizeUnits[unit.toLowerCase()] ?? 1);
  const got = escapedLine(String(values[name]));
  throw usageError(
    `--${name}: expected a size such as 4096, 64k, 32m or 1g, got ${got}`,
    `give a size, or omit --${name}`,
  );
}
