// Sizes as people type them.

const units: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** `4096`, `64k`, `32m`, `1g`; undefined for anything else. */
export function parseSize(text: unknown): number | undefined {
  const found = typeof text === "string" ? /^([1-9]\d{0,11})([kmg]?)$/i.exec(text) : null;
  const unit = units[found?.[2]?.toLowerCase() ?? ""];
  return found === null || unit === undefined ? undefined : Number(found[1]) * unit;
}
