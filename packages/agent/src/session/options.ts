// Defines the session options (mode, model, effort, automatic approval, answer length) and reads their values.

import type { AgentSession, SessionConfigOption } from "@parley/acp";
import { allEfforts, nearestEffort } from "../model/efforts.ts";
import type { Effort, Model, ModelFacts } from "../model/model.ts";
import { type AutoApproval, autoApprovals, isMode, type Mode, modes } from "../permissions/modes.ts";

const effortNames: Readonly<Record<Effort, string>> = {
  none: "None",
  minimal: "Minimal",
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Very high",
  max: "Highest",
};

const lengths = [
  { value: "default", name: "Limit of the model" },
  { value: "1024", name: "1,024 tokens" },
  { value: "4096", name: "4,096 tokens" },
  { value: "16384", name: "16,384 tokens" },
  { value: "65536", name: "65,536 tokens" },
] as const;

export interface OptionDefaults {
  readonly mode: Mode;
  readonly models: readonly [Model, ...Model[]];
  /** The id of one of them. */
  readonly model: string;
  /** What the user wants of models that have it. */
  readonly effort: Effort;
  readonly autoApprove: AutoApproval;
}

export function sessionOptions(defaults: OptionDefaults): SessionConfigOption[] {
  const { mode, models, model, effort, autoApprove } = defaults;
  return [
    {
      configId: "mode",
      name: "Mode",
      description: "What the agent may do without asking",
      category: "mode",
      type: "select",
      currentValue: mode,
      options: [...modes],
    },
    modelOption(models, model),
    ...effortOption(models.find(({ facts }) => facts.id === model)?.facts, effort),
    {
      configId: "autoApprove",
      name: "Approve automatically",
      category: "_permissions",
      type: "select",
      currentValue: autoApprove,
      options: [...autoApprovals],
    },
    {
      configId: "maxTokens",
      name: "Maximum answer length",
      category: "model_config",
      type: "select",
      currentValue: "default",
      options: [...lengths],
    },
  ];
}

function modelOption(models: OptionDefaults["models"], model: string): SessionConfigOption {
  return {
    configId: "model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue: model,
    options: models.map(({ facts }) => ({ value: facts.id, name: facts.name })),
  };
}

/** None for a model without a choice. */
function effortOption(facts: ModelFacts | undefined, wanted: Effort): SessionConfigOption[] {
  const offered = facts?.efforts ?? [];
  const currentValue = nearestEffort(wanted, offered);
  if (currentValue === undefined) return [];
  const options = offered.map((value) => ({ value, name: effortNames[value] }));
  return [
    {
      configId: "effort",
      name: "Thinking effort",
      description: "How much the model thinks before it answers",
      category: "thought_level",
      type: "select",
      currentValue,
      options,
    },
  ];
}

/** Sets the model and the efforts that it has, and notifies every client. `wanted`: the effort that the user wants. */
export function setModel(
  session: AgentSession,
  models: OptionDefaults["models"],
  id: string,
  wanted: Effort,
): void {
  const facts = models.find((model) => model.facts.id === id)?.facts;
  const options = session.configOptions.flatMap((option) => {
    if (option.configId === "effort") return [];
    if (option.configId !== "model") return [option];
    return [modelOption(models, id), ...effortOption(facts, wanted)];
  });
  if (JSON.stringify(options) !== JSON.stringify(session.configOptions)) session.setConfigOptions(options);
}

export function modeOf(session: AgentSession): Mode {
  const value = session.configOption("mode");
  return isMode(value) ? value : "ask";
}

export function autoApprovalOf(session: AgentSession): AutoApproval {
  const value = session.configOption("autoApprove");
  return autoApprovals.find((approval) => approval.value === value)?.value ?? "reads";
}

export function isEffort(value: unknown): value is Effort {
  return allEfforts.some((effort) => effort === value);
}

export function effortOf(session: AgentSession): Effort {
  const value = session.configOption("effort");
  return isEffort(value) ? value : "medium";
}

export function maxTokensOf(session: AgentSession): number | undefined {
  const tokens = Number(session.configOption("maxTokens"));
  return Number.isInteger(tokens) && tokens > 0 ? tokens : undefined;
}

export function modelOf(session: AgentSession, models: OptionDefaults["models"]): Model {
  const id = session.configOption("model");
  return models.find(({ facts }) => facts.id === id) ?? models[0];
}

/** Sets an option as if the client had, and notifies every client. */
export function choose(session: AgentSession, configId: string, value: string): void {
  session.setConfigOptions(
    session.configOptions.map((option) =>
      option.configId === configId && option.type === "select" ? { ...option, currentValue: value } : option,
    ),
  );
}
