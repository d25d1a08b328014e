// The text of help, written from the command tables so that it cannot disagree with the parser.

import type { Command, Option } from "./command.ts";

/** `parley --help`. */
export function overview(commands: readonly Command[]): string {
  const listed = commands.filter(({ internal }) => internal !== true);
  const rows = listed.map((command): [string, string] => [command.name, command.summary]);
  return [
    "parley: the Agent Client Protocol on the command line",
    "",
    "usage: parley COMMAND [OPTIONS]",
    "",
    "commands:",
    ...columns(rows),
    "",
    "options:",
    ...columns([
      ["-h, --help", "show this text, or the help of a command"],
      ["-V, --version", "show the version"],
      ["--json", "answer in JSON, where a command can"],
    ]),
    "",
    "help for one command: parley help COMMAND",
  ].join("\n");
}

/** `parley help sessions`: the commands that begin with this word. */
export function familyHelp(name: string, family: readonly Command[]): string {
  return [
    `usage: parley ${name} COMMAND [OPTIONS]`,
    "",
    "commands:",
    ...columns(family.map((command): [string, string] => [command.name, command.summary])),
    "",
    `help for one of them: parley help ${name} COMMAND`,
  ].join("\n");
}

/** `parley help COMMAND`. */
export function commandHelp(command: Command): string {
  const rows = Object.entries(command.options).map(([name, option]): [string, string] => [
    optionLabel(name, option),
    optionSummary(option),
  ]);
  if (command.json) rows.push(["--json", "answer in JSON"]);
  rows.push(["-h, --help", "show this text"]);
  const positionals = command.positionals === undefined ? "" : ` ${command.positionals}`;
  return [
    `parley ${command.name}: ${command.summary}`,
    "",
    `usage: parley ${command.name} [OPTIONS]${positionals}`,
    ...(command.details === undefined ? [] : ["", command.details]),
    "",
    "options:",
    ...columns(rows),
  ].join("\n");
}

function optionLabel(name: string, option: Option): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  return `${short}--${name}${option.type === "string" ? ` ${option.value ?? "VALUE"}` : ""}`;
}

function optionSummary(option: Option): string {
  const notes = [
    ...(option.default === undefined ? [] : [`default: ${option.default}`]),
    ...(option.multiple ? ["may be repeated"] : []),
  ];
  return notes.length === 0 ? option.summary : `${option.summary} (${notes.join(", ")})`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
}
