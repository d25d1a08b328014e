// Writes the completion script for fish.

import type { Command, Completion, Option } from "../command/command.ts";
import { commandWords, impliedCommands } from "./command-words.ts";

export function fishCompletion(commands: readonly Command[]): string {
  const { first, second } = commandWords(commands);
  const lines = [...first].map(
    ([word, summary]) =>
      `complete -c parley -n __fish_use_subcommand -f -a ${shellQuoted(word)} -d ${shellQuoted(summary)}`,
  );
  const implied = impliedCommands(commands);
  const agents = shellQuoted("(parley completion-words agents 2>/dev/null)");
  lines.push(
    `complete -c parley -n __fish_use_subcommand -f -a ${agents} -d ${shellQuoted("Talk with this agent")}`,
  );
  for (const { words, summary } of implied.others)
    lines.push(
      `complete -c parley -n __fish_use_subcommand -f -a ${shellQuoted(words.join(" "))} -d ${shellQuoted(summary)}`,
    );
  const isFirst = shellQuoted("__parley_is help; and test (count (commandline -opc)) -eq 2");
  for (const [word, summary] of first)
    lines.push(`complete -c parley -n ${isFirst} -f -a ${shellQuoted(word)} -d ${shellQuoted(summary)}`);
  lines.push(`complete -c parley -n ${shellQuoted("__parley_is help")} -f`);
  for (const [family, words] of second) {
    const helped = shellQuoted(`__parley_is help ${family}`);
    for (const [word, summary] of words)
      lines.push(`complete -c parley -n ${helped} -f -a ${shellQuoted(word)} -d ${shellQuoted(summary)}`);
    const others = shellQuoted(
      `__parley_is ${family}; and not __fish_seen_subcommand_from ${[...words.keys()].join(" ")}`,
    );
    for (const [word, summary] of words) {
      lines.push(`complete -c parley -n ${others} -f -a ${shellQuoted(word)} -d ${shellQuoted(summary)}`);
    }
  }
  return `# parley completion for fish: parley completion fish > ~/.config/fish/completions/parley.fish
function __parley_is
  set -l words (commandline -opc)
  # what follows -- belongs to another program
  contains -- -- $words; and return 1
  test (count $words) -gt (count $argv); or return 1
  for at in (seq (count $argv))
    test "$words["(math $at + 1)"]" = "$argv[$at]"; or return 1
  end
end
function __parley_without
  set -l words (commandline -opc)
  contains -- -- $words; and return 1
  test (count $words) -lt 2; and return 0
  not contains -- $words[2] ${[...first.keys(), ...implied.others.flatMap(({ words }) => words)].join(" ")}
end
${[...lines, ...commands.flatMap((command) => commandLines(command, typedAs(command, implied)))].join("\n")}
`;
}

/** How a command is typed: with its name, or with what means it. */
function typedAs({ name }: Command, { name: implied, others }: ReturnType<typeof impliedCommands>): string {
  const words = others.flatMap((other) => (other.name === name ? other.words : []));
  const ways = [name, ...words].map((word) => `__parley_is ${word}`);
  return [...ways, ...(name === implied ? ["__parley_without"] : [])].join("; or ");
}

function commandLines({ options = {}, json, completes }: Command, typed: string): string[] {
  const when = `complete -c parley -n ${shellQuoted(typed)}`;
  const flags: [string, Option][] = Object.entries(options);
  if (json) flags.push(["json", { type: "boolean", summary: "Print JSON" }]);
  return [
    ...flags.map(([flag, { short, type, summary, completes: values }]) => {
      const spelling = `-l ${flag}${short === undefined ? "" : ` -s ${short}`}`;
      return `${when} ${spelling} ${type === "string" ? reply(values, "r") : "-f"} -d ${shellQuoted(summary)}`;
    }),
    ...(completes === undefined ? [] : [`${when} ${reply(completes, "")}`]),
  ];
}

/** `r`: the flag needs a value. */
function reply(completes: Completion | undefined, needs: "r" | ""): string {
  if (completes === "file") return needs === "" ? "-F" : "-rF";
  const only = needs === "" ? "-f" : "-x";
  if (completes === undefined) return only;
  if (completes === "directory") return `${only} -a '(__fish_complete_directories)'`;
  if (typeof completes === "string")
    return `${only} -a '(parley completion-words ${completes}s 2>/dev/null)'`;
  return `${only} -a ${shellQuoted(completes.join(" "))}`;
}

/** fish has its own quotes. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
