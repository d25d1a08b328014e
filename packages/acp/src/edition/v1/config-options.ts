// Translates the options, modes and models of version 1, which are all options in the model.

import { optional } from "../../base/objects.ts";
import { valueKey } from "../../base/parley-extensions.ts";
import type { SessionConfigOption } from "../../model/content.ts";
import { isJsonOption, type JsonConfigOption, type JsonValue } from "../../model/custom-types.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { Lost } from "../agent-edition.ts";
import { bothMeta, metaOf } from "../wire-fields.ts";

/** The ids of the options that stand for modes and models. */
export const modeConfigId = "_mode";
export const modelConfigId = "_model";

/** No longer in the schema, and still in use. */
export interface LegacyModels {
  currentModelId: string;
  availableModels: { modelId: string; name: string; description?: string | null }[];
}

interface SessionResult {
  modes?: wire.SessionModeState | null;
  configOptions?: wire.SessionConfigOption[] | null;
  models?: unknown;
}

type Choice = {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  readonly _meta?: wire.Meta;
};

export function optionsFromV1(options: readonly wire.SessionConfigOption[]): SessionConfigOption[] {
  return options.map((option) => {
    const { id, ...rest } = option;
    if (rest.type === "select" && Object.hasOwn(rest._meta ?? {}, valueKey)) return jsonFromV1(option);
    const choices = rest.type === "select" ? { options: groupsFromV1(rest.options) } : {};
    return { configId: id, ...rest, ...choices } as SessionConfigOption; // validated by the method's row
  });
}

/** An option of any JSON type is a choice of one, whose value is in its custom data. */
function jsonFromV1({ id, ...option }: wire.SessionConfigOption): SessionConfigOption {
  const { name, description, category, _meta } = option;
  const { [valueKey]: currentValue, ...meta } = _meta ?? {};
  return {
    type: "_json",
    configId: id,
    name,
    currentValue,
    ...optional({
      description: description ?? undefined,
      category: category ?? undefined,
      _meta: Object.keys(meta).length === 0 ? undefined : meta,
    }),
  } as SessionConfigOption; // validated by the method's row
}

function jsonToV1({
  configId: id,
  name,
  description,
  category,
  currentValue,
  _meta,
}: JsonConfigOption): wire.SessionConfigOption {
  const value = JSON.stringify(currentValue ?? null);
  return {
    id,
    name,
    type: "select",
    currentValue: value,
    options: [{ value, name: value.length > 80 ? `${value.slice(0, 79)}…` : value }],
    ...optional({ description, category }),
    _meta: { ..._meta, [valueKey]: currentValue ?? null },
  };
}

function groupsFromV1(options: wire.SessionConfigSelectOptions): SelectOption["options"] {
  return options.map((option) => {
    if (!("group" in option)) return option;
    const { group, ...rest } = option;
    return { groupId: group, ...rest };
  }) as SelectOption["options"]; // all of one kind, as the schema demands
}

/** Everything that a session's answer says about options, as options. */
export function optionsFromResult(result: SessionResult): SessionConfigOption[] {
  const options = optionsFromV1(result.configOptions ?? []);
  const { modes } = result;
  const at = options.findIndex((option) => option.category === "mode");
  const option = options[at];
  if (modes && option === undefined) options.unshift(modeOption(modes));
  // said twice: the option counts, and the metadata of both is kept
  if (modes && option?.type === "select") options[at] = withModeMeta(option, modes);
  const models = legacyModels(result.models);
  if (models !== undefined && !options.some((option) => option.category === "model")) {
    const choices = models.availableModels.map(({ modelId, description, ...rest }) => ({
      value: modelId,
      ...rest,
      ...optional({ description: description ?? undefined }),
    }));
    options.push(selectOption(modelConfigId, "Model", "model", models.currentModelId, choices));
  }
  return options;
}

/** The option that stands for session modes. */
export function modeOption(modes: wire.SessionModeState): SessionConfigOption {
  const { currentModeId, availableModes } = modes;
  const choices: Choice[] = availableModes.map(({ id, description, _meta, ...rest }) => ({
    value: id,
    ...rest,
    ...optional({ description: description ?? undefined, _meta: _meta ?? undefined }),
  }));
  if (!choices.some(({ value }) => value === currentModeId)) {
    choices.push({ value: currentModeId, name: currentModeId });
  }
  return { ...selectOption(modeConfigId, "Mode", "mode", currentModeId, choices), ...metaOf(modes) };
}

function withModeMeta(option: SelectOption, modes: wire.SessionModeState): SessionConfigOption {
  const withMeta = (choice: Choice): Choice => {
    const mode = modes.availableModes.find(({ id }) => id === choice.value);
    return mode === undefined ? choice : { ...choice, ...bothMeta(mode, choice) };
  };
  const choices = option.options.map((choice) =>
    "groupId" in choice ? { ...choice, options: choice.options.map(withMeta) } : withMeta(choice),
  );
  // as: all of one kind, as they came
  return { ...option, options: choices as SelectOption["options"], ...bothMeta(modes, option) };
}

function selectOption(
  configId: string,
  name: string,
  category: "mode" | "model",
  currentValue: string,
  options: readonly Choice[],
): SessionConfigOption {
  return { configId, name, category, type: "select", currentValue, options };
}

function legacyModels(value: unknown): LegacyModels | undefined {
  const models = value as Partial<LegacyModels> | null | undefined;
  if (typeof models?.currentModelId !== "string" || !Array.isArray(models.availableModels)) return undefined;
  const known = models.availableModels.filter(
    (model) => typeof model?.modelId === "string" && typeof model.name === "string",
  );
  return { currentModelId: models.currentModelId, availableModels: known };
}

/** Options for a v1 client. Booleans become a choice of on and off where it knows no booleans. */
export function optionsToV1(
  options: readonly SessionConfigOption[],
  { knowsBooleans, knowsJson = false }: { readonly knowsBooleans: boolean; readonly knowsJson?: boolean },
  lost?: Lost,
): wire.SessionConfigOption[] {
  return options.flatMap((option): wire.SessionConfigOption[] => {
    const { configId: id, type: _, options: _choices, ...rest } = option as SelectOption; // or without choices
    const common = { id, ...rest };
    if (option.type === "boolean") {
      if (knowsBooleans) return [{ ...common, type: "boolean", currentValue: option.currentValue }];
      return [
        { ...common, type: "select", currentValue: onOff(option.currentValue), options: onOffChoices() },
      ];
    }
    if (isJsonOption(option)) {
      if (!knowsJson)
        lost?.(`values of the option ${id}, which takes any JSON: only the one that it has is shown`);
      return [jsonToV1(option)];
    }
    if (option.type !== "select") {
      lost?.(`an option of type ${String(option.type)}`);
      return [];
    }
    return [
      { ...common, type: "select", currentValue: option.currentValue, options: groupsToV1(option.options) },
    ];
  });
}

function groupsToV1(options: SelectOption["options"]): wire.SessionConfigSelectOptions {
  return options.map((option) => {
    if (!("groupId" in option)) return option;
    const { groupId, ...rest } = option;
    return { group: groupId, ...rest };
  }) as wire.SessionConfigSelectOptions; // all of one kind, as they came
}

const onOff = (value: boolean): string => (value ? "on" : "off");
const onOffChoices = (): Choice[] => [
  { value: "on", name: "On" },
  { value: "off", name: "Off" },
];

/** The value of a choice for an option that is a boolean in the model, or that takes any JSON. */
export function valueForOption(
  option: SessionConfigOption | undefined,
  value: string | boolean,
  meta: wire.Meta | undefined,
): JsonValue {
  if (isJsonOption(option)) {
    // as: what came from JSON
    if (meta !== undefined && Object.hasOwn(meta, valueKey)) return meta[valueKey] as JsonValue;
    return parsed(value);
  }
  if (option?.type === "boolean" && (value === "on" || value === "off")) return value === "on";
  return value;
}

/** A client that does not know the custom data sends the text. */
function parsed(value: string | boolean): JsonValue {
  if (typeof value === "boolean") return value;
  try {
    return JSON.parse(value) as JsonValue; // what JSON gives
  } catch {
    return value;
  }
}

/** The first option that chooses a mode, and what version 1 makes of it. */
export function modesToV1(options: readonly SessionConfigOption[]): wire.SessionModeState | undefined {
  const option = selectOf(options, "mode");
  if (option === undefined) return undefined;
  const availableModes = choicesOf(option).map(({ value, ...rest }) => ({ id: value, ...rest }));
  return { currentModeId: option.currentValue, availableModes, ...metaOf(option) };
}

export function modelsToV1(options: readonly SessionConfigOption[]): LegacyModels | undefined {
  const option = selectOf(options, "model");
  if (option === undefined) return undefined;
  const availableModels = choicesOf(option).map(({ value, name, description }) => ({
    modelId: value,
    name,
    ...optional({ description }),
  }));
  return { currentModelId: option.currentValue, availableModels };
}

type SelectOption = Extract<SessionConfigOption, { type: "select" }>;

export function selectOf(
  options: readonly SessionConfigOption[],
  category: "mode" | "model",
): SelectOption | undefined {
  for (const option of options) if (option.category === category && option.type === "select") return option;
  return undefined;
}

export function choicesOf(option: SelectOption): readonly Choice[] {
  return option.options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
}
