// Defines the session modes and the levels of automatic approval.

import type { Mode } from "../tools/base/tool.ts";

export type { Mode };

export const modes = [
  { value: "ask", name: "Ask", description: "Asks before every change and every command" },
  {
    value: "code",
    name: "Code",
    description: "Edits files of the project without asking; asks about commands and hosts",
  },
  { value: "architect", name: "Architect", description: "Reads and plans, changes nothing" },
  { value: "chat", name: "Chat", description: "Answers questions, touches nothing" },
] as const satisfies readonly { value: Mode; name: string; description: string }[];

export function isMode(value: unknown): value is Mode {
  return modes.some((mode) => mode.value === value);
}

export const autoApprovals = [
  { value: "off", name: "Nothing", description: "In mode ask, reading is asked about too" },
  { value: "reads", name: "Reads", description: "Files of the project are read without asking" },
  {
    value: "edits",
    name: "Reads and edits",
    description: "Files of the project are read and edited without asking",
  },
] as const;

export type AutoApproval = (typeof autoApprovals)[number]["value"];

export function isAutoApproval(value: unknown): value is AutoApproval {
  return autoApprovals.some((approval) => approval.value === value);
}
