// Extracts words and options from the command tables, for the completion scripts.

import type { Command, Completion } from "../command/command.ts";

/** The first and second words of commands, each with its summary. */
export function commandWords(commands: readonly Command[]): {
  readonly first: ReadonlyMap<string, string>;
  readonly second: ReadonlyMap<string, ReadonlyMap<string, string>>;
} {
  const first = new Map<string, string>();
  const second = new Map<string, Map<string, string>>();
  for (const { name, summary } of commands) {
    const [family = "", word] = name.split(" ");
    if (word === undefined) first.set(family, summary);
    else {
      if (!first.has(family)) first.set(family, `${family}: ${namesOf(commands, family)}`);
      second.set(family, (second.get(family) ?? new Map()).set(word, summary));
    }
  }
  first.set("help", "Show the help of a command");
  return { first, second };
}

function namesOf(commands: readonly Command[], family: string): string {
  return commands
    .flatMap(({ name }) => (name.startsWith(`${family} `) ? [name.slice(family.length + 1)] : []))
    .join(", ");
}

/** The command that is meant where none is named, and the flag that means another. */
export function impliedCommands(commands: readonly Command[]): {
  readonly name: string;
  readonly flags: readonly { readonly flag: string; readonly summary: string }[];
  readonly others: readonly {
    readonly name: string;
    readonly words: readonly string[];
    readonly summary: string;
  }[];
} {
  const implied = commands.find(({ isImplied }) => isImplied === true);
  const others = commands.flatMap(({ name, summary, impliedBy, options = {} }) => {
    if (impliedBy === undefined) return [];
    const { short } = options[impliedBy] ?? {};
    return [{ name, summary, words: [`--${impliedBy}`, ...(short === undefined ? [] : [`-${short}`])] }];
  });
  return { name: implied?.name ?? "", flags: implied === undefined ? [] : flagsOf(implied), others };
}

/** Options of a command as they are typed, with their summaries. */
export function flagsOf({
  options = {},
  json,
}: Command): { readonly flag: string; readonly summary: string }[] {
  const flags = Object.entries(options).map(([name, { summary }]) => ({ flag: `--${name}`, summary }));
  const common = [{ flag: "--help", summary: "Show the help of the command" }];
  return [...flags, ...(json ? [{ flag: "--json", summary: "Print JSON" }] : []), ...common];
}

/** The `case` arms that complete values of options. */
export function valueCases(
  commands: readonly Command[],
  reply: (completes: Completion | undefined) => string,
): string {
  const arms = commands.flatMap(({ name, options = {} }) =>
    Object.entries(options).flatMap(([option, { type, short, completes }]) => {
      const flags = [`--${option}`, ...(short === undefined ? [] : [`-${short}`])];
      const patterns = flags.map((each) => shellQuoted(`${name}:${each}`)).join("|");
      return type === "string" ? [`    ${patterns}) ${reply(completes)} return ;;`] : [];
    }),
  );
  return arms.join("\n");
}

/** In single quotes, for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
