// Offers the prompts of MCP servers as slash commands: `/server:prompt first "second argument" name=value`.

import type { Prompt } from "@modelcontextprotocol/client";
import type { AvailableCommand } from "@parley/acp/model";
import { oneLine, withoutControls } from "../text/safe-text.ts";

export function commandName(server: string, prompt: string): string {
  return oneLine(`${server}:${prompt}`).replaceAll(/\s+/gu, "_");
}

export function promptCommand(server: string, prompt: Prompt): AvailableCommand {
  const { name, title, description, arguments: args = [] } = prompt;
  const hint = oneLine(
    args.map((arg) => (arg.required === true ? `<${arg.name}>` : `[${arg.name}]`)).join(" "),
  );
  return {
    type: "command",
    name: commandName(server, name),
    description:
      withoutControls(description ?? title ?? "") ||
      `The prompt ${oneLine(name)} of the MCP server ${server}`,
    ...(hint !== "" && { input: { type: "text" as const, hint } }),
  };
}

/** Assigns words by `name=`, else by position; the last argument takes the rest. Throws a message for the user. */
export function promptArguments(prompt: Prompt, text: string): Record<string, string> {
  const wanted = prompt.arguments ?? [];
  const given: Record<string, string> = {};
  const words = wordsOf(text);
  const loose = words.filter((word) => {
    const [, name = "", value = ""] = /^([\w-]+)=([\s\S]*)$/.exec(word) ?? [];
    if (!wanted.some((arg) => arg.name === name)) return true;
    given[name] = value;
    return false;
  });
  const positional = wanted.filter(({ name }) => given[name] === undefined);
  for (const [i, { name }] of positional.entries()) {
    const value = i === positional.length - 1 ? loose.slice(i).join(" ") : loose[i];
    if (value !== undefined && value !== "") given[name] = value;
  }
  const missing = wanted.filter(({ name, required }) => required === true && given[name] === undefined);
  if (missing.length === 0) return given;
  throw new TypeError(
    `The prompt ${prompt.name} needs ${missing.map(({ name }) => name).join(", ")}: write it after the command.`,
  );
}

function wordsOf(text: string): string[] {
  return Array.from(text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"']|["'])+/g), ([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
  );
}
