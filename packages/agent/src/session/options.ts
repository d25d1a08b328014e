// Defines the session options (mode, model, effort, automatic approval, answer length) and reads their values.

import type { AgentSession, SessionConfigOption } from "@parley/acp";
import type { Effort, Model } from "../model/model.ts";
import { type AutoApproval, autoApprovals, isMode, type Mode, modes } from "../permissions/modes.ts";

const efforts = [
  { value: "none", name: "None" },
  { value: "low", name: "Low" },
  { value: "medium", name: "Medium" },
  { value: "high", name: "High" },
] as const satisfies readonly { value: Effort; name: string }[];

const lengths = [
  { value: "default", name: "What the model allows" },
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
    {
      configId: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: model,
      options: models.map(({ facts }) => ({ value: facts.id, name: facts.name })),
    },
    {
      configId: "effort",
      name: "Thinking effort",
      description: "For models that think before they answer",
      category: "thought_level",
      type: "select",
      currentValue: effort,
      options: [...efforts],
    },
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
      name: "Longest answer",
      category: "model_config",
      type: "select",
      currentValue: "default",
      options: [...lengths],
    },
  ];
}

export function modeOf(session: AgentSession): Mode {
  const value = session.configOption("mode");
  return isMode(value) ? value : "ask";
}

export function autoApprovalOf(session: AgentSession): AutoApproval {
  const value = session.configOption("autoApprove");
  return autoApprovals.find((approval) => approval.value === value)?.value ?? "reads";
}

export function effortOf(session: AgentSession): Effort {
  const value = session.configOption("effort");
  return efforts.find((effort) => effort.value === value)?.value ?? "medium";
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
