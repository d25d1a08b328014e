// Writes the completion script for bash 3.2 and newer, without the bash-completion package.

import type { Command, Completion } from "../command/command.ts";
import { commandWords, flagsOf, impliedCommands, shellQuoted, valueCases } from "./command-words.ts";

export function bashCompletion(commands: readonly Command[]): string {
  const { first, second } = commandWords(commands);
  const implied = impliedCommands(commands);
  const options = [
    ...implied.flags.map(({ flag }) => flag),
    ...implied.others.flatMap(({ words }) => words),
    "--version",
  ];
  const families = [...second].map(
    ([family, words]) => `    ${family}) subcommands=${shellQuoted([...words.keys()].join(" "))} ;;`,
  );
  return `# parley completion for bash: source <(parley completion bash)
_parley() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= subcommands= at
  COMPREPLY=()
  # bash takes --format=json for three words
  [[ $previous == = ]] && previous=\${COMP_WORDS[COMP_CWORD-2]}
  [[ $current == = ]] && current=
  for ((at = 1; at < COMP_CWORD; at++)); do
    # what follows -- belongs to another program
    [[ \${COMP_WORDS[at]} == -- ]] && { COMPREPLY=($(compgen -f -- "$current")); return; }
  done
  if ((COMP_CWORD == 1)); then
    if [[ $current == -* ]]; then COMPREPLY=($(compgen -W ${shellQuoted(options.join(" "))} -- "$current"))
    else COMPREPLY=($(compgen -W ${shellQuoted([...first.keys()].join(" "))}" $(parley completion-words agents 2>/dev/null)" -- "$current"))
    fi
    return
  fi
  command=\${COMP_WORDS[1]}
  case $command in
    ${[...first.keys()].join("|")}) ;;
${implied.others.map(({ name, words }) => `    ${words.join("|")}) command=${name} ;;`).join("\n")}
    *) command=${implied.name} ;;
  esac
  case $command in
${families.join("\n")}
  esac
  if [[ $command == help ]]; then
    subcommands=${shellQuoted([...first.keys()].join(" "))}
    if ((COMP_CWORD > 2)); then
      subcommands=
      case \${COMP_WORDS[2]} in
${families.join("\n")}
      esac
    fi
    COMPREPLY=($(compgen -W "$subcommands" -- "$current"))
    return
  fi
  if [[ -n $subcommands ]]; then
    if ((COMP_CWORD == 2)) && [[ $current != -* ]]; then
      COMPREPLY=($(compgen -W "$subcommands" -- "$current"))
      ((\${#COMPREPLY[@]})) && return
    fi
    for at in $subcommands; do
      [[ \${COMP_WORDS[2]} == "$at" ]] && command="$command $at"
    done
  fi
  case "$command:$previous" in
${valueCases(commands, reply)}
  esac
  case $command in
${commands.map(commandArm).join("\n")}
  esac
}
complete -F _parley parley
`;
}

function commandArm(command: Command): string {
  const flags = shellQuoted(
    flagsOf(command)
      .map(({ flag }) => flag)
      .join(" "),
  );
  const words = command.completes === undefined ? "" : `else ${reply(command.completes)} `;
  return `    ${shellQuoted(command.name)}) if [[ $current == -* ]]; then COMPREPLY=($(compgen -W ${flags} -- "$current")); ${words}fi ;;`;
}

function reply(completes: Completion | undefined): string {
  const words = (list: string) => `COMPREPLY=($(compgen ${list} -- "$current"));`;
  if (completes === undefined) return "";
  if (completes === "file") return words("-f");
  if (completes === "directory") return words("-d");
  if (typeof completes === "string")
    return words(`-W "$(parley completion-words ${completes}s 2>/dev/null)"`);
  return words(`-W ${shellQuoted(completes.join(" "))}`);
}
