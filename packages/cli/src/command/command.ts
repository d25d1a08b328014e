// Types of command tables and of what a command is given.

/** How a shell completes a value: with files, directories, names of agents or sessions, or one of these words. */
export type Completion = "file" | "directory" | "agent" | "session" | readonly string[];

/** One option of a command, as `node:util` parseArgs takes it, plus its help text. */
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

/** The arguments of a command, parsed by its table. */
export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  /** All positional arguments, including those after `--`. */
  readonly positionals: readonly string[];
  /** The positional arguments before `--`. */
  readonly words: readonly string[];
  /** The arguments after `--`: the argv of another program. */
  readonly argv: readonly string[];
  /** Print `{"v":1,"data":…}` instead of text. */
  readonly json: boolean;
}

/** Runs a command; returns the exit code (default 0). `tables` are those of all commands. */
export type Run = (
  invocation: Invocation,
  tables: readonly Command[],
) => Promise<number | undefined> | number | undefined;

/** The table of one command. */
export interface Command {
  /** One word, or two: `trace show`. */
  readonly name: string;
  /** One line: imperative, capitalised, without a full stop. */
  readonly summary: string;
  /** Longer text for `parley help NAME`; help wraps its lines. */
  readonly details?: string;
  /** The positional arguments as help shows them, `FILE...`. Absent: the command takes none. */
  readonly positionals?: string;
  readonly completes?: Completion;
  /** If the first argument matches, the second begins a command of the user, with its own options. */
  readonly commandAfter?: RegExp;
  readonly options?: Readonly<Record<string, Option>>;
  /** Not listed in help: other programs start it. */
  readonly internal?: boolean;
  /** Supports `--json`. */
  readonly json?: boolean;
  readonly load: () => Promise<Run>;
}
