// Reads and writes what only the dialect can say, in the `_meta` of messages of version 1.

import { isObject } from "../../base/objects.ts";
import { detailsKey } from "../dialect-keys.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The fields that are there: null means the same as nothing. */
export function given(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
}

/** What the dialect said about the object; undefined where it did not come from a dialect. */
export function detailsOf(value: unknown): Fields | undefined {
  const meta = isObject(value) ? value["_meta"] : undefined;
  const details = isObject(meta) ? meta[detailsKey] : undefined;
  return isObject(details) ? details : undefined;
}

/** One key of `_meta`. */
export function metaValue(value: unknown, key: string): unknown {
  const meta = isObject(value) ? value["_meta"] : undefined;
  return isObject(meta) && Object.hasOwn(meta, key) ? meta[key] : undefined;
}

/** `_meta` without the keys that became fields; nothing when none is left. */
export function metaBesides(value: unknown, ...keys: readonly string[]): { _meta?: Record<string, unknown> } {
  const meta = isObject(value) ? value["_meta"] : undefined;
  if (!isObject(meta)) return {};
  const left = Object.entries(meta).filter(([key]) => !keys.includes(key));
  return left.length === 0 ? {} : { _meta: Object.fromEntries(left) };
}

/** `_meta` of an object of the dialect, with these keys added. */
export function metaWith(value: unknown, keys: Fields): { _meta?: Record<string, unknown> } {
  const added = Object.entries(keys).filter(([, each]) => each !== undefined);
  const { _meta: meta } = metaBesides(value);
  if (added.length === 0) return meta === undefined ? {} : { _meta: meta };
  return { _meta: { ...meta, ...Object.fromEntries(added) } };
}

/** The same with details; no key where there are none. */
export function metaWithDetails(
  value: unknown,
  details: Fields,
  keys: Fields = {},
): { _meta?: Record<string, unknown> } {
  const said = given(details);
  return metaWith(value, { ...keys, [detailsKey]: Object.keys(said).length === 0 ? undefined : said });
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** A whole number that the dialect's fields can hold. */
export function countOf(value: unknown): number | undefined {
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
  return isCount ? value : undefined;
}
