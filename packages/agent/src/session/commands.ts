// Defines the slash commands and parses prompts that begin with one.

import type { ContentBlock } from "@parley/acp";
import type { AvailableCommand } from "@parley/acp/model";
import { planRequest, testRequest } from "../model/agent-requests.ts";
import type { Mode } from "../permissions/modes.ts";
import { slashCommand } from "../text/slash-command.ts";

interface CommandRow {
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
  /** The modes that offer it. Default: all. */
  readonly modes?: readonly Mode[];
  /** Not offered where the client takes changes back itself. */
  readonly isUndo?: boolean;
}

const rows: readonly CommandRow[] = [
  { name: "help", description: "Explain what this agent can do" },
  {
    name: "plan",
    description: "Make a plan without changing anything",
    hint: "what to plan",
    modes: ["ask", "code", "architect"],
  },
  {
    name: "test",
    description: "Run the project's tests and explain what fails",
    hint: "which tests (optional)",
    modes: ["ask", "code"],
  },
  { name: "clear", description: "Forget the conversation so far" },
  {
    name: "compact",
    description: "Replace the conversation with a summary",
    hint: "what matters most (optional)",
  },
  { name: "undo", description: "Undo the file changes of the last turn", isUndo: true },
  { name: "redo", description: "Redo what the last undo reverted", isUndo: true },
  { name: "model", description: "List the models, or choose one", hint: "the id of a model (optional)" },
  {
    name: "permissions",
    description: "List your “always” and “never” answers",
    hint: "clear, to delete them (optional)",
  },
];

/** The names of all commands of the agent, in whatever mode. */
export const ownNames: ReadonlySet<string> = new Set(rows.map(({ name }) => name));

export function commandList(mode: Mode, { hasUndo }: { readonly hasUndo: boolean }): AvailableCommand[] {
  return rows
    .filter((row) => (row.modes?.includes(mode) ?? true) && (hasUndo || row.isUndo !== true))
    .map(({ name, description, hint }) => ({
      type: "command",
      name,
      description,
      ...(hint !== undefined && { input: { type: "text" as const, hint } }),
    }));
}

export type LocalCommand = "help" | "model" | "permissions" | "compact" | "clear" | "undo" | "redo";

export type Reading =
  /** Sent to the model. */
  | { readonly type: "prompt"; readonly prompt: readonly ContentBlock[]; readonly mode?: Mode }
  /** Answered by the agent itself; the model does not see it. */
  | { readonly type: "local"; readonly command: LocalCommand; readonly argument: string };

/** A command stands at the start of the first text block; other content may follow. */
export function readPrompt(prompt: readonly ContentBlock[]): Reading {
  const command = slashCommand(prompt);
  if (command === undefined) return { type: "prompt", prompt };
  const { name, argument } = command;
  const withText = (text: string) => command.replacedBy([{ type: "text", text }]);
  switch (name) {
    case "plan":
      return { type: "prompt", prompt: withText(`${planRequest}\n${argument}`), mode: "architect" };
    case "test":
      return { type: "prompt", prompt: withText(`${testRequest} ${argument}`.trim()) };
    case "help":
    case "model":
    case "permissions":
    case "compact":
    case "clear":
    case "undo":
    case "redo":
      return { type: "local", command: name, argument: argument };
    default:
      return { type: "prompt", prompt };
  }
}
