// Finds the command that is meant where its name was left out: `parley -c`, `parley claude`, `parley "fix the bug"`.

import { parseArgs } from "node:util";
import type { Command } from "./command.ts";

/** Words that are no command and mean themselves. */
const ownWords = ["help", "version", "--help", "-h", "--version", "-V", "-v"];

export interface Implying {
  readonly commands: readonly Command[];
  /** Whether somebody can type and read. */
  isAtTerminal(): boolean;
  /** Read only for a word that is no command. */
  agentNames(): Promise<readonly string[]>;
}

/** The arguments with the name of the command that they mean, or as they are if they name one. Throws a usage error. */
export async function withCommand(
  argv: readonly string[],
  { commands, isAtTerminal, agentNames }: Implying,
): Promise<readonly string[]> {
  const implied = commands.find(({ isImplied }) => isImplied === true);
  if (implied === undefined) return argv;
  const [first] = argv.filter((word) => word !== "--json");
  if (first === undefined) return argv.length === 0 && isAtTerminal() ? [implied.name] : argv;
  if (isCommandWord(first, commands) || ownWords.includes(first)) return argv;
  const { chosen, positionals } = read(argv, implied, commands);
  if (first.startsWith("-")) {
    const [word] = positionals;
    const isMisplaced = chosen === implied && word !== undefined && isCommandWord(word, commands);
    if (isOptionOf(first, chosen) && !isMisplaced) return [chosen.name, ...argv];
    const { misplacedOptions, unknownOption } = await import("./usage-errors.ts");
    throw isMisplaced ? misplacedOptions(first, word) : unknownOption(first, chosen, commands);
  }
  if (/\s/.test(first)) return [chosen.name, ...argv];
  if ((await agentNames()).includes(first)) {
    const rest = argv.toSpliced(argv.indexOf(first), 1);
    return [chosen.name, "--agent", first, ...rest];
  }
  return chosen === implied ? argv : [chosen.name, ...argv];
}

/** The command that one of its own flags chooses, otherwise the implied one; and the words before `--`. */
function read(argv: readonly string[], implied: Command, commands: readonly Command[]) {
  const flagged = commands.filter(({ impliedBy }) => impliedBy !== undefined);
  const options = Object.assign({}, ...[...flagged, implied].map((command) => command.options));
  const { values, tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const chosen = flagged.find(({ impliedBy = "" }) => values[impliedBy] === true) ?? implied;
  const end = tokens.findIndex(({ kind }) => kind === "option-terminator");
  const before = end < 0 ? tokens : tokens.slice(0, end);
  return {
    chosen,
    positionals: before.flatMap((token) => (token.kind === "positional" ? [token.value] : [])),
  };
}

/** Whether commands begin with this word. */
function isCommandWord(word: string, commands: readonly Command[]): boolean {
  return commands.some(({ name }) => name === word || name.startsWith(`${word} `));
}

/** `--cwd`, `--cwd=DIR`, `-C`, `-CDIR` or several short ones. `--` begins the command of an agent. */
function isOptionOf(typed: string, { options = {} }: Command): boolean {
  if (typed === "--") return true;
  if (typed.startsWith("--")) return Object.hasOwn(options, typed.slice(2).split("=")[0] ?? "");
  return Object.values(options).some(({ short }) => short !== undefined && short === typed[1]);
}
