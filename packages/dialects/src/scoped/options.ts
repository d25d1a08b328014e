// Translates options. The dialect has a key and JSON of any type; version 1 has choices and booleans.

import type * as v1 from "@parley/acp/v1";
import { isObject, valueKey } from "../exchange/library.ts";
import { metaValue } from "./details.ts";

export type Option = v1.SessionConfigOption;

/** Options that are on or off in the document, while ours have more values: off is what approves no change. */
const switches: ReadonlyMap<string, { readonly on: string; readonly off: string }> = new Map([
  ["autoApprove", { on: "edits", off: "off" }],
]);

/** The two values of our option that the document's booleans mean. */
function switchOf(option: Option | undefined): { readonly on: string; readonly off: string } | undefined {
  if (option?.type !== "select") return undefined;
  const choices = switches.get(option.id);
  if (choices === undefined || isJson(option)) return undefined;
  return hasChoice(option, choices.on) && hasChoice(option, choices.off) ? choices : undefined;
}

/** The value as JSON. `isSwitched`: the client says true or false for it, and is told the same. */
export function optionValue(option: Option, isSwitched: boolean): unknown {
  if (isJson(option)) return metaValue(option, valueKey);
  const choices = isSwitched ? switchOf(option) : undefined;
  return choices === undefined ? option.currentValue : option.currentValue === choices.on;
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
  return Object.fromEntries(options.map((option) => [option.id, optionValue(option, false)]));
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
  const choices = switchOf(option);
  if (typeof value === "boolean" && choices !== undefined)
    return { ...common, value: value ? choices.on : choices.off };
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
