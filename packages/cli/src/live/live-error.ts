// The errors of starting an agent and its session, with the exit codes of commands that end with them.

export const exitCodes = {
  ok: 0,
  agentError: 1,
  usage: 2,
  refused: 3,
  timeout: 4,
  notStarted: 5,
  loginNeeded: 6,
  cancelled: 130,
} as const;

/** Why there is no session, or no more. */
export class LiveError extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(exitCode: number, code: string, message: string, hint?: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.hint = hint;
  }
}
