// What the scripts for all shells need of the tables.

import type { Command, Completion } from "../command/command.ts";

/** The words that may follow `parley`, and those that may follow a word of two: each with what it says. */
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
  first.set("help", "show the help of a command");
  return { first, second };
}

function namesOf(commands: readonly Command[], family: string): string {
  return commands
    .flatMap(({ name }) => (name.startsWith(`${family} `) ? [name.slice(family.length + 1)] : []))
    .join(", ");
}

/** Flags of a command as they are typed, with what they say. */
export function flagsOf({ options, json }: Command): { readonly flag: string; readonly summary: string }[] {
  const flags = Object.entries(options).map(([name, { summary }]) => ({ flag: `--${name}`, summary }));
  const common = [{ flag: "--help", summary: "show the help of the command" }];
  return [...flags, ...(json ? [{ flag: "--json", summary: "answer in JSON" }] : []), ...common];
}

/** Flags that take a value, with both spellings. */
export function valueFlags({
  options,
}: Command): { readonly flags: readonly string[]; readonly completes: Completion | undefined }[] {
  return Object.entries(options).flatMap(([name, { type, short, completes }]) =>
    type === "string"
      ? [{ flags: [`--${name}`, ...(short === undefined ? [] : [`-${short}`])], completes }]
      : [],
  );
}

/** For single quotes of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
