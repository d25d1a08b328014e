// Whether a session can still be used, and why not.

import { abortable } from "../../../base/abortable.ts";
import { ConnectionError } from "../../../jsonrpc/errors.ts";
import type { CallResult, SessionEnd } from "./client-session.ts";
import { checkSignal } from "./prompt-handle.ts";

export class SessionLife {
  readonly closed: Promise<SessionEnd>;
  readonly #closed = Promise.withResolvers<SessionEnd>();
  #connectionError: ConnectionError | undefined;
  #isClosed = false;
  #closing: Promise<CallResult> | undefined;

  constructor() {
    this.closed = this.#closed.promise;
  }

  /** Why nothing can be sent any more, if that is not what this client wanted. */
  get connectionError(): ConnectionError | undefined {
    return this.#connectionError;
  }

  /** The session has been closed, deleted or archived, and the agent has ended its work. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Throws once the session has been closed, or is being closed. */
  check(method: string): void {
    if (!this.#isClosed && this.#closing === undefined) return;
    const advice = "load or resume it, or open a new one";
    throw new ConnectionError("closed", `${method}: the session has been closed; ${advice}`);
  }

  /** Closes it once. What fails may be tried again: the session is then still open at the agent. */
  closeOnce(signal: AbortSignal | undefined, close: () => Promise<CallResult>): Promise<CallResult> {
    checkSignal("close", signal);
    this.#closing ??= close().catch((error: unknown) => {
      this.#closing = undefined;
      throw error;
    });
    return abortable(
      signal,
      this.#closing,
      ({ reason }) => new ConnectionError("aborted", "close: aborted", { cause: reason }),
    );
  }

  end(): void {
    this.#isClosed = true;
    this.#closed.resolve({ reason: "closed" });
  }

  disconnected(error: ConnectionError): void {
    this.#connectionError = error;
    this.#closed.resolve({ reason: error.kind === "session_taken" ? "taken" : "disconnected", error });
  }
}
