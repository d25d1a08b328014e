// What the table of a command is made of, and what a command is given. Types only: the tables are loaded by every
// command.

/** What a shell may complete a value with: files, directories, names of agents or sessions, or one of these words. */
export type Completion = "file" | "directory" | "agent" | "session" | readonly string[];

/** One option of a command, as `node:util` parseArgs takes it, plus what help says about it. */
export interface Option {
  readonly type: "boolean" | "string";
  readonly short?: string;
  readonly multiple?: boolean;
  readonly default?: string | boolean;
  /** The placeholder in help: `--cwd DIR`. */
  readonly value?: string;
  readonly completes?: Completion;
  readonly summary: string;
}

/** What a command gets: its arguments, parsed by its own table. */
export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  /** All of them, those after `--` too. */
  readonly positionals: readonly string[];
  /** What follows `--`: the argv of another program. It is the end of `positionals`. */
  readonly argv: readonly string[];
  /** The user asked for `{"v":1,"data":…}` on stdout instead of prose. */
  readonly json: boolean;
}

/** Runs a command; the number is the exit code, nothing means 0. `tables` are those of all commands. */
export type Run = (
  invocation: Invocation,
  tables: readonly Command[],
) => Promise<number | undefined> | number | undefined;

/** The table of one command. */
export interface Command {
  /** One word, or two: `trace show`. */
  readonly name: string;
  /** One line, no full stop. */
  readonly summary: string;
  /** Longer text for `parley help NAME`. */
  readonly details?: string;
  /** The positional arguments as help shows them, `FILE...`. Absent: the command takes none. */
  readonly positionals?: string;
  readonly completes?: Completion;
  /** Where the first argument is one of these words, the second begins a command of the user's, with options of its own. */
  readonly commandAfter?: RegExp;
  readonly options: Readonly<Record<string, Option>>;
  /** Started by other commands and not by people: help does not list it. */
  readonly internal?: boolean;
  /** Whether the command can answer in JSON; `--json` is refused otherwise. */
  readonly json?: boolean;
  readonly load: () => Promise<{ readonly run: Run }>;
}
