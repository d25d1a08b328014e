// The parts of a command: its table, arguments, errors and printed answer.

import { escapedJson } from "../terminal/sanitise.ts";

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
  /** Command lines for help, each as it can be typed. Every listed command has one. */
  readonly examples?: readonly string[];
  /** The first word alone means this command: `parley sessions` is `parley sessions list`. */
  readonly isDefault?: boolean;
  /** It is meant where no command is named: by its options, a prompt with a space or the name of an agent. */
  readonly isImplied?: boolean;
  /** The name of its flag that means this command where none is named. */
  readonly impliedBy?: string;
  /** The positional arguments as help shows them, `FILE...`. Absent: the command takes none. */
  readonly positionals?: string;
  readonly completes?: Completion;
  /** If the first argument matches, the second begins a command of the user, with its own options. */
  readonly commandAfter?: RegExp;
  readonly options?: Readonly<Record<string, Option>>;
  /** Not listed in help: other programs start it. */
  readonly internal?: boolean;
  /** It writes to stdout by its own means, usually another program's messages. */
  readonly ownsOutput?: boolean;
  /** Supports `--json`. */
  readonly json?: boolean;
  /** The error for arguments that cannot be parsed, if it is clear what was meant. Loaded for these only. */
  readonly meant?: () => Promise<(args: readonly string[]) => CommandError | undefined>;
  readonly load: () => Promise<Run>;
}

/** An option without a value. */
export function flag(summary: string, more: Pick<Option, "short"> = {}): Option {
  return { type: "boolean", summary, ...more };
}

/** An option with a value; help shows its name, as in `--cwd DIR`. */
export function option(
  value: string,
  summary: string,
  more: Pick<Option, "short" | "multiple" | "default" | "completes"> = {},
): Option {
  return { type: "string", value, summary, ...more };
}

/** Says what went wrong and what to do about it. */
export class CommandError extends Error {
  /** For scripts: one or two words, with underscores. */
  readonly code: string;
  readonly hint: string;
  readonly exitCode: number;

  constructor(code: string, message: string, hint: string, exitCode = 1) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** The arguments are wrong. Exit code 2. */
export function usageError(message: string, hint: string): CommandError {
  return new CommandError("usage", message, hint, 2);
}

/** Prints text for people, or `{"v":1,"data":…}` for scripts. Returns the exit code 0. */
export function printAnswer(text: string, data: unknown, json: boolean): number {
  process.stdout.write(`${json ? escapedJson({ v: 1, data }) : text}\n`);
  return 0;
}

type OutputFailure = (error: NodeJS.ErrnoException) => void;

let onOutputFailure: OutputFailure | undefined;

/**
 * Handles a closed or failing stdout. By default the process exits like one killed by SIGPIPE when the reader stops
 * early, as in `parley doctor | head`. A closed stderr is ignored.
 */
export function watchOutput(handler: OutputFailure = exitWithoutOutput): void {
  const isWatched = onOutputFailure !== undefined;
  onOutputFailure = handler;
  if (isWatched) return;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => onOutputFailure?.(error));
  process.stderr.on("error", () => undefined);
}

function exitWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(128 + 13);
  // usually a full disk
  process.stderr.write(`parley: cannot write the output: ${error.message}\n`);
  process.exit(1);
}
