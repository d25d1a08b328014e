// Writes help texts from the command tables.

import type { Command, Option } from "./command.ts";

const lineWidth = 100;

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
      ["-h, --help", "Show this help, or the help of a command"],
      ["-V, --version", "Show the version"],
      ["--json", "Print JSON, if the command supports it"],
    ]),
    "",
    "See parley help COMMAND for one command.",
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
    `See parley help ${name} COMMAND for one of them.`,
  ].join("\n");
}

/** `parley help COMMAND`. */
export function commandHelp(command: Command): string {
  const rows = Object.entries(command.options ?? {}).map(([name, option]): [string, string] => [
    optionLabel(name, option),
    optionSummary(option),
  ]);
  if (command.json) rows.push(["--json", "Print JSON"]);
  rows.push(["-h, --help", "Show this help"]);
  const positionals = command.positionals === undefined ? "" : ` ${command.positionals}`;
  return [
    `parley ${command.name}: ${command.summary}`,
    "",
    `usage: parley ${command.name} [OPTIONS]${positionals}`,
    ...(command.details === undefined ? [] : ["", ...wrapped(command.details, lineWidth)]),
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
  return rows.flatMap(([label, text]) =>
    wrapped(text, lineWidth - width - 4).map(
      (line, at) => `  ${(at === 0 ? label : "").padEnd(width)}  ${line}`,
    ),
  );
}

/** Line breaks of the text stay; further ones are put between words. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    // keeps the indentation of short lines
    if (paragraph.length <= width) {
      lines.push(paragraph);
      continue;
    }
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}
