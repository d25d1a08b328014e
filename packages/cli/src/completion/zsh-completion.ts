// Writes the completion script for zsh.

import type { Command, Completion } from "../command/command.ts";
import { commandWords, flagsOf, impliedCommands, shellQuoted, valueCases } from "./command-words.ts";

export function zshCompletion(commands: readonly Command[]): string {
  const { first, second } = commandWords(commands);
  const implied = impliedCommands(commands);
  const options = [
    ...implied.flags.map(({ flag, summary }): [string, string] => [flag, summary]),
    ...implied.others.flatMap(({ words, summary }) => words.map((word): [string, string] => [word, summary])),
  ];
  const families = [...second].map(
    ([family, list]) => `    ${family}) subcommands=(${described([...list])}) ;;`,
  );
  return `#compdef parley
# parley completion for zsh: source <(parley completion zsh), after compinit
_parley() {
  local command=\${words[2]} previous=\${words[CURRENT-1]} current=\${words[CURRENT]}
  local -a subcommands choices
  # what follows -- belongs to another program
  if (( \${words[(I)--]} > 0 && \${words[(I)--]} < CURRENT )); then _files; return; fi
  choices=(${described([...first])})
  if (( CURRENT == 2 )); then
    if [[ $current == -* ]]; then choices=(${described(options)}); _describe option choices; return; fi
    _describe command choices
    ${reply("agent")}
    return
  fi
  case $command in
    ${[...first.keys()].join("|")}) ;;
${implied.others.map(({ name, words }) => `    ${words.join("|")}) command=${name} ;;`).join("\n")}
    *) command=${implied.name} ;;
  esac
  case $command in
${families.join("\n")}
    help) _describe command choices; return ;;
  esac
  if (( \${#subcommands} > 0 )); then
    if (( CURRENT == 3 )) && [[ $current != -* ]]; then _describe command subcommands; fi
    [[ -n \${subcommands[(r)\${words[3]}:*]} ]] && command="$command \${words[3]}"
  fi
  case "$command:$previous" in
${valueCases(commands, reply)}
  esac
  case $command in
${commands.map(commandArm).join("\n")}
  esac
}
compdef _parley parley
`;
}

function described(words: readonly (readonly [string, string])[]): string {
  return words.map(([word, summary]) => shellQuoted(`${word.replaceAll(":", "\\:")}:${summary}`)).join(" ");
}

function commandArm(command: Command): string {
  const flags = described(flagsOf(command).map(({ flag, summary }) => [flag, summary]));
  const values = command.completes === undefined ? "" : `else ${reply(command.completes)}`;
  return `    ${shellQuoted(command.name)}) if [[ $current == -* ]]; then choices=(${flags}); _describe option choices; ${values}fi ;;`;
}

function reply(completes: Completion | undefined): string {
  if (completes === undefined) return "";
  if (completes === "file") return "_files; ";
  if (completes === "directory") return "_files -/; ";
  if (typeof completes === "string") {
    return `compadd -- \${(f)"$(parley completion-words ${completes}s 2>/dev/null)"}; `;
  }
  return `compadd -- ${completes.map(shellQuoted).join(" ")}; `;
}
