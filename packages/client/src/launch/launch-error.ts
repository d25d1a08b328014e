// The error of an agent that cannot be started or reached.

/**
 * The cause of a LaunchError; a `switch` needs a `default:`. `unknown_agent`: no agent has that name. `not_found`: the
 * program is not installed. `exited`: it exited before the handshake. `protocol`: it does not speak ACP. `unreachable`:
 * the address does not answer. `no_sandbox`: it must run in a sandbox, and none can start. `crash_loop`: it crashed too often. `login_needed`: the user has to log in first.
 */
export type LaunchErrorKind =
  | "unknown_agent"
  | "not_found"
  | "not_executable"
  | "spawn_failed"
  | "exited"
  | "handshake_timeout"
  | "protocol"
  | "unreachable"
  | "no_sandbox"
  | "aborted"
  | "crash_loop"
  | "login_needed";

/** The agent did not start, or cannot be used until the user follows `hint`. */
export class LaunchError extends Error {
  /** Always "LaunchError". */
  override readonly name = "LaunchError";
  /** The cause. */
  readonly kind: LaunchErrorKind;
  /** A fix for the user to try, in one sentence. */
  readonly hint: string;
  /** The end of the agent's stderr, if it wrote any. */
  readonly stderr: string | undefined;
  /** The HTTP status with which a remote server refused the connection, if it did. */
  readonly status: number | undefined;
  /** The exit code of the agent's process, if it exited. */
  readonly exitCode: number | undefined;
  /** The signal that ended the agent's process, if any. */
  readonly signal: string | undefined;

  constructor(
    kind: LaunchErrorKind,
    message: string,
    details: {
      readonly hint: string;
      readonly stderr?: string | undefined;
      readonly status?: number | undefined;
      readonly exitCode?: number | undefined;
      readonly signal?: string | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.hint = details.hint;
    this.stderr = details.stderr;
    this.status = details.status;
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
