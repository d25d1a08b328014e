// Defines the session modes and which of them offers a tool, and the levels of automatic approval.

import type { Mode, Tool } from "../tools/base/tool.ts";

export type { Mode };

export const modes = [
  { value: "ask", name: "Ask", description: "Asks before every change and every command" },
  {
    value: "code",
    name: "Code",
    description:
      "Edits project files and runs commands in the sandbox without asking; asks about hosts and anything outside the sandbox",
  },
  { value: "architect", name: "Architect", description: "Reads and plans, but changes nothing" },
  { value: "chat", name: "Chat", description: "Answers questions without reading or changing files" },
] as const satisfies readonly { value: Mode; name: string; description: string }[];

export function isMode(value: unknown): value is Mode {
  return modes.some((mode) => mode.value === value);
}

export const autoApprovals = [
  { value: "off", name: "Nothing", description: "Mode ask also asks before it reads files" },
  { value: "reads", name: "Reads", description: "Project files are read without asking" },
  {
    value: "edits",
    name: "Reads and edits",
    description: "Project files are read and edited without asking",
  },
] as const satisfies readonly {
  readonly value: AutoApproval;
  readonly name: string;
  readonly description: string;
}[];

/** The calls that mode "ask" approves without asking: none, reads in the project, or also edits in it. */
export type AutoApproval = "off" | "reads" | "edits";

export function offeredTools(tools: readonly Tool[], mode: Mode): Tool[] {
  return tools.filter(({ modes: own, isReadOnly }) => (own ?? defaultModes(isReadOnly)).includes(mode));
}

function defaultModes(isReadOnly: boolean): readonly Mode[] {
  return isReadOnly ? ["ask", "code", "architect"] : ["ask", "code"];
}
