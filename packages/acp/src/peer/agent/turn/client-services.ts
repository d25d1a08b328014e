// What the files and terminals of a client need of its connection.

import type { Dialect } from "../../../edition/dialect.ts";
import { RequestError } from "../../../jsonrpc/errors.ts";
import type { TerminalOutputs } from "../session/terminal-outputs.ts";

/** Sends a request to the client and gives its decoded result. `receive` is called before any later message is handled. */
export type AskClient = (
  method: string,
  params: object,
  signal?: AbortSignal,
  receive?: (result: unknown) => unknown,
) => Promise<unknown>;

export interface ClientServices {
  readonly sessionId: string;
  readonly ask: AskClient;
  /** The dialect that the client speaks; undefined for version 1. */
  readonly dialect: Dialect | undefined;
  readonly terminalOutput: TerminalOutputs;
}

/** The error for what a client that speaks only version 1 cannot be asked. */
export function notOnV1(method: string, what: string, instead: string): RequestError {
  return new RequestError(
    "method_not_found",
    `${method}: this client speaks v1, which has no ${what}; ${instead}`,
    { data: { reason: "capability_missing" } },
  );
}
