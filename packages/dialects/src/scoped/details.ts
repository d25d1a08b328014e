// Reads what only the dialect can say, in the `_meta` of messages of version 1. Anybody may have written it: nothing in it
// is believed before it is looked at.

import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { type Fields, metaField } from "../exchange/exchange.ts";
import { detailsKey, isObject } from "../exchange/library.ts";

/** The fields that are there: null means the same as nothing. */
export function given(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
}

/** What the dialect said about the object; undefined where it did not come from a dialect. */
export function dialectDetails(value: object): Fields | undefined {
  const details = metaField(value)._meta?.[detailsKey];
  return isObject(details) ? details : undefined;
}

/** One key of `_meta`. */
export function metaValue(value: object, key: string): unknown {
  const { _meta } = metaField(value);
  return _meta !== undefined && Object.hasOwn(_meta, key) ? _meta[key] : undefined;
}

/** `_meta` of the object with exactly these details; no key where there are none. */
export function metaWithDetails(value: object, details: Fields): { _meta?: Fields } {
  const said = given(details);
  const bare = withoutMeta(value, [detailsKey]);
  return Object.keys(said).length === 0 ? bare : withMetaKeys(bare, { [detailsKey]: said });
}

export function detailText(value: unknown): string | undefined {
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
