// The options of a relay.

import type { Edition } from "../../edition/negotiate.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import type { OutgoingMcpServer } from "../../model/outgoing.ts";
import type { Files, Terminals } from "../../model/services.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";

export interface RelayOptions extends Pick<ConnectionOptions, "limits" | "log"> {
  /** The edition that the client is offered. Default: the one that it asks for, if the relay knows it. */
  readonly as?: Edition;
  /**
   * What to do with something that the other version cannot express. "lossy" (default) sends the nearest thing, and
   * notes the loss in the log and under `parley.dev/lost` in `_meta`: of the update, and of the message that ends the
   * turn (the answer to the prompt on version 1, the idle state on version 2). "strict" drops such updates, refuses
   * such requests with RequestError "invalid_params", and logs both.
   */
  readonly losses?: "lossy" | "strict";
  /** How long the agent may take to answer `initialize`. Default 60,000 ms. */
  readonly handshakeTimeoutMs?: number;
  /** The unstable features to pass on. Default "*": all of them. */
  readonly unstable?: UnstableFeatures;
  /**
   * Reads a file, to complete a patch to the two texts that version 1 shows. The agent chooses the path: read only
   * files below the roots of its session.
   */
  readText?(path: string, roots: readonly string[]): string | undefined;
  /** Lets an agent of version 2 use the files and terminals of a client of version 1, through an MCP server. */
  clientTools?(services: ClientToolServices): Promise<ClientTools>;
}

/** The client's files and terminals for one session. Call them when a tool is used: the session has its id then. */
export interface ClientToolServices {
  readonly cwd: string;
  readonly canRead: boolean;
  readonly canWrite: boolean;
  readonly canRunCommands: boolean;
  files(): Files;
  terminals(): Terminals;
}

export interface ClientTools {
  /** Given to the agent beside the client's own servers. */
  readonly server: OutgoingMcpServer;
  close(): Promise<void>;
}
