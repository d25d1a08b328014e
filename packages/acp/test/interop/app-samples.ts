// Options, commands and a plan that the agent written with agent() offers, in the terms of the model.

import type { SessionConfigOption } from "@parley/acp";
import type { AvailableCommand, PlanEntry } from "@parley/acp/model";

export const appOptions: SessionConfigOption[] = [
  {
    configId: "mode",
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue: "ask",
    options: [
      { value: "ask", name: "Ask", description: "asks first" },
      { value: "code", name: "Code" },
    ],
  },
  {
    configId: "effort",
    name: "Effort",
    category: "thought_level",
    type: "select",
    currentValue: "low",
    options: [
      { groupId: "g", name: "Group", options: [{ value: "low", name: "Low" }] },
      { groupId: "h", name: "Other", options: [{ value: "high", name: "High" }] },
    ],
  },
  { configId: "web", name: "Web", type: "boolean", currentValue: false },
];

export const appCommands: AvailableCommand[] = [
  { type: "command", name: "test", description: "runs the tests", input: { type: "text", hint: "which" } },
  { type: "command", name: "help", description: "helps" },
];

export const appPlan: PlanEntry[] = [
  { content: "look", priority: "high", status: "completed" },
  { content: "leap", priority: "low", status: "pending" },
];
