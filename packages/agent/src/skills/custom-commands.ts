// Custom commands: a Markdown file in a folder `commands` is a slash command, and its text is the prompt.

import type { AvailableCommand } from "@parley/acp/model";
import { frontMatterOf, lineOf } from "./front-matter.ts";
import { markdownFiles, type Places } from "./markdown-files.ts";

export interface CustomCommand {
  /** Folders are part of it: `git:commit`. */
  readonly name: string;
  readonly description: string;
  /** What to write behind it. */
  readonly hint?: string;
  /** The prompt; `$ARGUMENTS`, `$1` and so on stand for what is written behind the command. */
  readonly text: string;
  readonly path: string;
  readonly isOfProject: boolean;
}

const maxDescription = 200;

/** By name; of two with one name, that of the project counts, and of the folder closest to the working directory. */
export async function findCommands(places: Places): Promise<CustomCommand[]> {
  const files = await markdownFiles("commands", places, (name) => name.endsWith(".md"));
  const commands = await Promise.all(
    files.map(async ({ path, relativePath, text, isOfProject }): Promise<CustomCommand> => {
      const { fields, body } = await frontMatterOf(text);
      const name = relativePath.slice(0, -".md".length).replaceAll(/[\\/]/g, ":");
      const first = lineOf(
        body.split("\n").find((line) => line.trim() !== ""),
        maxDescription,
      );
      const hint = lineOf(fields["argument-hint"], maxDescription);
      return {
        name,
        description: lineOf(fields["description"], maxDescription) ?? first ?? name,
        ...(hint !== undefined && { hint }),
        text: body.trim(),
        path,
        isOfProject,
      };
    }),
  );
  const usable = commands.filter(({ name, text }) => isCommandName(name) && text !== "");
  return [...new Map(usable.map((command) => [command.name, command])).values()];
}

function isCommandName(name: string): boolean {
  return /^[\p{L}\p{N}_.:-]{1,64}$/u.test(name);
}

export function availableCommand({ name, description, hint, text }: CustomCommand): AvailableCommand {
  const takes = hint ?? (/\$(?:ARGUMENTS|[1-9])/.test(text) ? "arguments" : undefined);
  return {
    type: "command",
    name,
    description,
    ...(takes !== undefined && { input: { type: "text", hint: takes } }),
  };
}

/** The prompt that a command stands for. */
export function expanded({ text }: Pick<CustomCommand, "text">, given: string): string {
  const words = Array.from(given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, a, b, c]) => a ?? b ?? c ?? "");
  let takesArguments = false;
  const filled = text.replaceAll(/\$(?:ARGUMENTS|([1-9]))/g, (_, position?: string) => {
    takesArguments = true;
    return position === undefined ? given : (words[Number(position) - 1] ?? "");
  });
  return takesArguments || given === "" ? filled : `${filled}\n\n${given}`;
}
