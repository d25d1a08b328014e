// Times as people type them: `90`, `10m`, `30d`.

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** In milliseconds; a number alone is in `alone`. Undefined: it is no time in one of these units. */
export function timeSpan(given: string, allowed: readonly string[], alone?: string): number | undefined {
  const [, number, unit = alone ?? ""] = /^(\d{1,9}(?:\.\d{1,9})?)([a-z]+)?$/.exec(given) ?? [];
  const span = Number(number) * (units[unit] ?? Number.NaN);
  return allowed.includes(unit) && span > 0 ? span : undefined;
}
