// The error that commands throw; the entry point prints it as text or JSON.

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
