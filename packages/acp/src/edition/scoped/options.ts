// Translates options. The dialect has a key and JSON of any type; version 1 has choices and booleans.

import { isObject } from "../../base/objects.ts";
import type * as v1 from "../../wire/v1/types.gen.ts";
import { valueKey } from "../dialect-keys.ts";
import { metaValue } from "./details.ts";

export type Option = v1.SessionConfigOption;

/** The value as JSON. */
export function optionValue(option: Option): unknown {
  return isJson(option) ? metaValue(option, valueKey) : option.currentValue;
}

/** Whether the value is JSON of any type. */
function isJson(option: Option): boolean {
  return isObject(option._meta) && Object.hasOwn(option._meta, valueKey);
}

/** Modes are no options in the dialect. */
export function withoutModes(options: readonly Option[]): Option[] {
  return options.filter(({ category }) => category !== "mode");
}

/** The options by key. */
export function valuesOf(options: readonly Option[]): { [key: string]: unknown } {
  return Object.fromEntries(options.map((option) => [option.id, optionValue(option)]));
}

/** The option of a dialect's agent, which says a key and a value only. */
export function optionOf(key: string, value: unknown): Option {
  if (typeof value === "boolean") return { id: key, name: key, type: "boolean", currentValue: value };
  const text = JSON.stringify(value);
  const options = [{ value: text, name: text }];
  return { id: key, name: key, type: "select", currentValue: text, options, _meta: { [valueKey]: value } };
}

/** The params that set the option in version 1. */
export function settingOf(
  sessionId: string,
  key: string,
  value: unknown,
  option: Option | undefined,
): v1.SetSessionConfigOptionRequest {
  const common = { sessionId, configId: key };
  const isPlain = option === undefined || !isJson(option);
  if (typeof value === "boolean" && isPlain) return { ...common, type: "boolean", value };
  if (typeof value === "string" && isPlain) return { ...common, value };
  const text = JSON.stringify(value);
  // a number may be one of the choices
  if (option?.type === "select" && isPlain && hasChoice(option, text)) return { ...common, value: text };
  return { ...common, value: text, _meta: { [valueKey]: value } };
}

/** The JSON that a request of version 1 sets. */
export function valueIn(params: v1.SetSessionConfigOptionRequest): unknown {
  const { _meta: meta, value } = params;
  return isObject(meta) && Object.hasOwn(meta, valueKey) ? meta[valueKey] : value;
}

function hasChoice(option: Extract<Option, { type: "select" }>, value: string): boolean {
  return option.options.some((each) =>
    "group" in each ? each.options.some((inner) => inner.value === value) : each.value === value,
  );
}
