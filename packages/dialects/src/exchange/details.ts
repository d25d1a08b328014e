// What a dialect says and version 1 has no field for: it travels in `_meta`, under `detailsKey`.

import { type Fields, metaField } from "./exchange.ts";
import { detailsKey, isObject, optional } from "./library.ts";

export function detailsOf(value: object): Fields {
  const details = metaField(value)._meta?.[detailsKey];
  return isObject(details) ? details : {};
}

/** The `_meta` of an object with further details. Those that are undefined are left out. */
export function withDetails(value: object, details: Fields): { _meta?: Fields } {
  const given = optional(details);
  if (Object.keys(given).length === 0) return metaField(value);
  return { _meta: { ...metaField(value)._meta, [detailsKey]: { ...detailsOf(value), ...given } } };
}

/** The `_meta` of an object without these details, which became fields. */
export function withoutDetails(value: object, names: readonly string[]): { _meta?: Fields } {
  const rest = Object.fromEntries(Object.entries(detailsOf(value)).filter(([name]) => !names.includes(name)));
  const bare = withoutMeta(value, [detailsKey]);
  if (Object.keys(rest).length === 0) return bare;
  return { _meta: { ...bare._meta, [detailsKey]: rest } };
}

/** The `_meta` of an object without these keys; nothing if none is left. */
export function withoutMeta(value: object, keys: readonly string[]): { _meta?: Fields } {
  const { _meta } = metaField(value);
  if (_meta === undefined) return {};
  const rest = Object.entries(_meta).filter(([key]) => !keys.includes(key));
  return rest.length === 0 ? {} : { _meta: Object.fromEntries(rest) };
}

/** The `_meta` of an object with further keys. Those that are undefined are left out. */
export function withMetaKeys(value: object, keys: Fields): { _meta?: Fields } {
  const all = { ...metaField(value)._meta, ...optional(keys) };
  return Object.keys(all).length === 0 ? {} : { _meta: all };
}
