// Errors for unknown commands and wrong arguments.

import { nearestWord } from "@parley/acp/internal";
import { escapedLine } from "../terminal/sanitise.ts";
import { type Command, type CommandError, type Option, usageError } from "./command.ts";

/** The commands of two words that begin with this word. */
export function familyOf(name: string, commands: readonly Command[]): readonly Command[] {
  return commands.filter((command) => command.internal !== true && command.name.startsWith(`${name} `));
}

/** `second` is the word after it, if there is one. A name of an agent is meant as a command, too. */
export function unknownCommand(
  name: string,
  second: string | undefined,
  commands: readonly Command[],
  agents: readonly string[] = [],
): CommandError {
  const family = familyOf(name, commands).map((command) => command.name);
  if (family.length > 0 && (second === undefined || second.startsWith("-"))) {
    return usageError(`${name} needs a subcommand: ${family.join(", ")}`, `see parley help ${name}`);
  }
  if (family.length > 0) {
    const seconds = family.map((each) => each.slice(name.length + 1));
    const near = nearestWord(second ?? "", seconds);
    return usageError(
      `unknown command ${name} ${escapedLine(second ?? "")}; expected one of ${seconds.join(", ")}`,
      near === undefined ? `see parley help ${name}` : `did you mean: parley ${name} ${near}`,
    );
  }
  const names = commands.filter(({ internal }) => internal !== true).map((command) => command.name);
  const near =
    nearestWord(`${name} ${second ?? ""}`.trim(), names) ??
    nearestWord(name, [...firstWords(names), ...agents]);
  const isText = second !== undefined && !second.startsWith("-");
  const guess = isText
    ? 'quote a prompt: parley "fix the bug"; '
    : `for a prompt of one word: parley chat ${escapedLine(name)}; `;
  return usageError(
    `unknown command ${escapedLine(name)}`,
    `${near === undefined ? guess : `did you mean: parley ${near}; `}parley --help lists all commands`,
  );
}

/** An option without a command; `implied` is the command that would be meant. */
export function unknownOption(
  typed: string,
  { options = {} }: Command,
  commands: readonly Command[],
): CommandError {
  const message = `unknown option ${escapedLine(typed)}`;
  const [name = ""] = typed.replace(/^-+/, "").split("=");
  const isCommand = commands.some((command) => command.internal !== true && command.name === name);
  if (isCommand) return usageError(message, `did you mean: parley ${name}`);
  const near = nearestWord(name, ["help", "version", "json", ...Object.keys(options)]);
  const hint =
    near === undefined
      ? "put options after the command; see parley --help"
      : `did you mean: parley --${near}`;
  return usageError(message, hint);
}

/** An option before the name of a command. */
export function misplacedOptions(typed: string, command: string): CommandError {
  return usageError(
    `${escapedLine(typed)} is before the command ${command}`,
    `put options after the command: parley ${command} ...; for a prompt of this word, type parley chat first`,
  );
}

/** Translates an error of `parseArgs`. */
export function badArguments(error: Error, command: Command, args: readonly string[]): CommandError {
  const help = `see parley help ${command.name}`;
  const [, name = ""] = /--([\w-]+)/.exec(error.message) ?? [];
  const { options = {} } = command;
  const option = options[name];
  if (option?.type === "string" && !/^Unknown/.test(error.message)) {
    return usageError(`${command.name}: ${missingValue(name, option, args)}`, help);
  }
  const names = [...Object.keys(options), ...(command.json ? ["json"] : [])];
  // the first sentence says what is wrong; Node adds advice about positionals
  const got = escapedLine(error.message.split(/\. |\n/)[0] ?? error.message);
  const near = name === "" ? undefined : nearestWord(name, [...names, "help"]);
  const listed = names.map((each) => `--${each}`).join(", ");
  const known = names.length === 0 ? "there are no options" : `options: ${listed}`;
  return usageError(
    `${command.name}: ${got.charAt(0).toLowerCase()}${got.slice(1)}${near === undefined ? `; ${known}` : ""}`,
    near === undefined ? help : `did you mean --${near}; ${help}`,
  );
}

function missingValue(name: string, { short, value = "VALUE" }: Option, args: readonly string[]): string {
  const at = args.findIndex((each) => each === `--${name}` || (short !== undefined && each === `-${short}`));
  const next = at < 0 ? undefined : args[at + 1];
  if (next === undefined) return `--${name} needs a value: --${name} ${value}`;
  const got = escapedLine(next);
  return `--${name} needs a value, got ${got}, which looks like an option; to use it as the value, write --${name}=${got}`;
}

function firstWords(names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => name.split(" ")[0] ?? name))];
}
