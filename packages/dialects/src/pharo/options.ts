// Options of a session. The dialect sets them to any JSON and never lists them; version 1 lists them and has two types.

import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { type Fields, metaField } from "../exchange/exchange.ts";
import { isObject, valueKey } from "../exchange/library.ts";
import type { SetConfigOptionRequest } from "../wire/pharo/types.gen.ts";

/** `takesJson` says that the option holds JSON of any type, also where the value is a string. */
export function settingToV1(params: SetConfigOptionRequest, takesJson: boolean): Fields {
  const { sessionId, option: configId, value } = params;
  const meta = metaField(params);
  if (!takesJson && typeof value === "boolean")
    return { sessionId, configId, type: "boolean", value, ...meta };
  if (!takesJson && typeof value === "string") return { sessionId, configId, value, ...meta };
  return {
    sessionId,
    configId,
    value: JSON.stringify(value),
    ...withMetaKeys(params, { [valueKey]: value }),
  };
}

/** The value that is meant: JSON of any type travels in `_meta`. */
export function meantValue(setting: Fields): unknown {
  const { _meta } = metaField(setting);
  return _meta !== undefined && Object.hasOwn(_meta, valueKey) ? _meta[valueKey] : setting["value"];
}

export function settingToPharo(params: Fields): Fields {
  const { sessionId, configId: option } = params;
  return { sessionId, option, value: meantValue(params), ...withoutMeta(params, [valueKey]) };
}

/** An option that somebody has set. Nothing else is known about the options of an agent of this dialect. */
export function optionToV1(id: string, value: unknown): Fields {
  if (typeof value === "boolean") return { id, name: id, type: "boolean", currentValue: value };
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const option = { id, name: id, type: "select", currentValue: text, options: [{ value: text, name: text }] };
  return typeof value === "string" ? option : { ...option, _meta: { [valueKey]: value } };
}

/** The mode of a session, in the answer that opens it or in an update. */
export function currentMode(holder: Fields): string | undefined {
  const { modes, configOptions } = holder;
  const option = Array.isArray(configOptions)
    ? configOptions.find((each: unknown) => isObject(each) && each["category"] === "mode")
    : undefined;
  const mode = isObject(modes) ? modes["currentModeId"] : option?.["currentValue"];
  return typeof mode === "string" ? mode : undefined;
}

/** Whether there are options that are no modes. */
export function hasOtherOptions({ configOptions }: Fields): boolean {
  return Array.isArray(configOptions) && configOptions.some((each: Fields) => each["category"] !== "mode");
}

/** The ids of the options that hold JSON of any type, in the answer that opens a session or in an update. */
export function jsonOptions(holder: Fields): string[] | undefined {
  const options = holder["configOptions"];
  if (!Array.isArray(options)) return undefined;
  return options.flatMap((option: unknown) => {
    const isJson = isObject(option) && Object.hasOwn(metaField(option)._meta ?? {}, valueKey);
    return isJson && typeof option["id"] === "string" ? [option["id"]] : [];
  });
}
