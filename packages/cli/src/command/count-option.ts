// Options that are a number.

import { printable } from "../terminal/printable.ts";
import type { Invocation } from "./command.ts";
import { usageError } from "./command-error.ts";

export function countOption(values: Invocation["values"], name: string, otherwise: number): number {
  const given = values[name];
  if (typeof given !== "string") return otherwise;
  if (!/^[1-9]\d{0,5}$/.test(given)) {
    throw usageError(
      `--${name} takes a number from 1 to 999999, got ${printable(given)}`,
      "leave it out, or give one",
    );
  }
  return Number(given);
}
