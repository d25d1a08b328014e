// The error of an agent that cannot be started or reached.

/** Why an agent cannot be used. More may be added: give a switch over it a `default:`. */
export type LaunchErrorKind =
  | "unknown_agent"
  | "not_found"
  | "not_executable"
  | "spawn_failed"
  | "exited"
  | "handshake_timeout"
  | "protocol"
  | "unreachable"
  | "aborted"
  | "crash_loop"
  | "login_needed";

/** The agent did not start, or cannot be used before the user follows the hint. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
  /** What to do about it depends on this. */
  readonly kind: LaunchErrorKind;
  /** A fix for the user to try. */
  readonly hint: string;
  /** The last that the agent wrote to stderr. */
  readonly stderr: string | undefined;
  /** The exit code of the agent's process, where it has exited. */
  readonly exitCode: number | undefined;
  /** The signal that ended the agent's process. */
  readonly signal: string | undefined;

  constructor(
    kind: LaunchErrorKind,
    message: string,
    details: {
      readonly hint: string;
      readonly stderr?: string | undefined;
      readonly exitCode?: number | undefined;
      readonly signal?: string | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.hint = details.hint;
    this.stderr = details.stderr;
    this.exitCode = details.exitCode;
    this.signal = details.signal;
  }
}

/** Where to look for the reason. */
export function stderrHint(stderr: string | undefined): string {
  return stderr === undefined || stderr.trim() === ""
    ? "it wrote nothing to stderr"
    : "what it wrote to stderr says why";
}
