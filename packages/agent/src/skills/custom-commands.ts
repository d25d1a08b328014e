// Custom commands: a Markdown file in a folder `commands` is a slash command, and its text is the prompt. So is a skill.

import { type ContentBlock, RequestError } from "@parley/acp";
import type { AvailableCommand } from "@parley/acp/model";
import { withoutNotes } from "../model/agent-requests.ts";
import { slashCommand } from "../text/slash-command.ts";
import type { Vetoes } from "../tools/base/tool.ts";
import { frontMatterOf, lineOf } from "./front-matter.ts";
import { type FileOrigin, markdownFiles, type Places } from "./markdown-files.ts";
import { findSkills, namesOf, type Skill, textOfSkill } from "./skills.ts";

interface CustomCommand {
  /** Folders are part of it: `git:commit`. */
  readonly name: string;
  readonly description: string;
  /** A hint at what to write behind it. */
  readonly hint?: string;
  /** The prompt; `$ARGUMENTS`, `$1` and so on stand for what is written behind the command. */
  text(): Promise<string>;
  readonly path: string;
  readonly origin: FileOrigin;
}

const maxDescription = 200;

/** By name; of two with one name, that of the project counts, and of the folder closest to the working directory. */
async function findCommands(places: Places): Promise<CustomCommand[]> {
  const files = await markdownFiles("commands", places, (name) => name.endsWith(".md"));
  const commands = files.map(({ path, relativePath, text, origin }): CustomCommand => {
    const { fields, body } = frontMatterOf(text);
    const name = relativePath.slice(0, -".md".length).replaceAll(/[\\/]/g, ":");
    const first = lineOf(
      body.split("\n").find((line) => line.trim() !== ""),
      maxDescription,
    );
    const hint =
      lineOf(fields.get("argument-hint"), maxDescription) ??
      (/\$(?:ARGUMENTS|[1-9])/.test(body) ? "arguments" : undefined);
    return {
      name,
      description: lineOf(fields.get("description"), maxDescription) ?? first ?? name,
      ...(hint !== undefined && { hint }),
      text: async () => body.trim(),
      path,
      origin,
    };
  });
  const usable = commands.filter(({ name }) => isCommandName(name));
  return [...new Map(usable.map((command) => [command.name, command])).values()];
}

function isCommandName(name: string): boolean {
  return /^[\p{L}\p{N}_.:-]{1,64}$/u.test(name);
}

/** The custom commands of a session. */
export class CustomCommands {
  #found: readonly CustomCommand[] = [];
  #skills: readonly Skill[] = [];

  /** Looks for them again; true when the list has changed. Names in `taken` are commands of the agent itself. */
  async refresh(places: Places, taken: ReadonlySet<string>): Promise<boolean> {
    const before = JSON.stringify(this.list);
    const [skills, commands] = await Promise.all([findSkills(places), findCommands(places)]);
    this.#skills = skills;
    const asCommands = skills.map(
      (skill): CustomCommand => ({ ...skill, hint: "what to do", text: () => textOfSkill(skill) }),
    );
    const all = new Map([...asCommands, ...commands].map((command) => [command.name, command]));
    this.#found = [...all.values()].filter(({ name }) => !taken.has(name));
    return JSON.stringify(this.list) !== before;
  }

  /** The skills among them. */
  get skills(): readonly Skill[] {
    return this.#skills;
  }

  get list(): AvailableCommand[] {
    return this.#found.map(({ name, description, hint }) => ({
      type: "command",
      name,
      description,
      ...(hint !== undefined && { input: { type: "text" as const, hint } }),
    }));
  }

  /** Replaces a command at the start of the first text by the prompt that it stands for. */
  async expand(
    prompt: readonly ContentBlock[],
    vetoes: Vetoes | undefined,
  ): Promise<readonly ContentBlock[]> {
    const typed = slashCommand(prompt);
    const command = this.#found.find(({ name }) => name === typed?.name);
    if (typed === undefined || command === undefined) return prompt;
    const { path, origin } = command;
    if (origin.isOfProject && ((await vetoes?.unreadable(namesOf(command)))?.size ?? 0) > 0) {
      throw new RequestError(
        "invalid_params",
        `/${typed.name} is in ${path}, which your rules do not allow to be read`,
        {
          data: { reason: "custom_command", path: "/prompt" },
        },
      );
    }
    const text = expanded(withoutNotes(await command.text()), typed.argument);
    return typed.replacedBy([{ type: "text", text }]);
  }
}

/** The prompt that a command stands for. */
function expanded(text: string, given: string): string {
  const words = Array.from(given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, a, b, c]) => a ?? b ?? c ?? "");
  let takesArguments = false;
  const filled = text.replaceAll(/\$(?:ARGUMENTS|([1-9]))/g, (_, position?: string) => {
    takesArguments = true;
    return position === undefined ? given : (words[Number(position) - 1] ?? "");
  });
  return takesArguments || given === "" ? filled : `${filled}\n\n${given}`;
}
