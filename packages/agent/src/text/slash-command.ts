// Finds the slash command that a prompt begins with.

import type { ContentBlock } from "@parley/acp";

export interface SlashCommand {
  /** The name without the slash. */
  readonly name: string;
  /** The text behind the name, without blanks at both ends. */
  readonly argument: string;
  /** The prompt with other content in place of the command. Further blocks stay. */
  replacedBy(content: readonly ContentBlock[]): readonly ContentBlock[];
}

/** A command stands at the start of the first text block. Undefined when there is none. */
export function slashCommand(prompt: readonly ContentBlock[]): SlashCommand | undefined {
  const at = prompt.findIndex(({ type }) => type === "text");
  const first = prompt[at];
  if (first?.type !== "text") return undefined;
  const [, name, argument = ""] = /^\s*\/(\S+)(?:\s+([\s\S]*))?$/.exec(String(first.text)) ?? [];
  if (name === undefined) return undefined;
  return {
    name,
    argument: argument.trim(),
    replacedBy: (content) => prompt.flatMap((block, i) => (i === at ? content : [block])),
  };
}
