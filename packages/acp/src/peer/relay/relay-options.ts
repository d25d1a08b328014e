// The options of a relay.

import type { Dialect } from "../../edition/dialect.ts";
import type { Edition } from "../../edition/negotiate.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import type { OutgoingMcpServer } from "../../model/outgoing.ts";
import type { Files, Terminals } from "../../model/services.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";

/** The options of `relay`. */
export interface RelayOptions extends Pick<ConnectionOptions, "limits" | "log"> {
  /** The edition that the client is offered. Default: the one that it asks for, if the relay knows it. */
  readonly as?: Edition | Dialect | undefined;
  /** The edition that the agent speaks. Default: version 1 or 2, as it answers. A dialect must be named. */
  readonly agentEdition?: Edition | Dialect | undefined;
  /**
   * The treatment of things that the other version cannot express. "lossy" (default) sends the nearest thing, and
   * notes the loss in the log and under `_parley.dev/lost` in `_meta`: of the update, and of the message that ends the
   * turn (the answer to the prompt on version 1, the idle state on version 2). "strict" drops such updates, refuses
   * such requests with RequestError "invalid_params" unless a dialect is spoken, and logs both.
   */
  readonly losses?: "lossy" | "strict" | undefined;
  /** How long the agent may take to answer `initialize`, in milliseconds. Default 60,000. */
  readonly handshakeTimeoutMs?: number | undefined;
  /** The unstable features to pass on. Default "*": all of them. */
  readonly unstable?: UnstableFeatures | undefined;
  /**
   * Reads a file, to complete a patch to the two texts that version 1 shows. The agent chooses the path: read only
   * files below the roots of its session.
   */
  readonly readText?: ((path: string, roots: readonly string[]) => string | undefined) | undefined;
  /** Lets an agent of version 2 use the files and terminals of a client of version 1, through an MCP server. */
  readonly clientTools?: ((services: ClientToolServices) => Promise<ClientTools>) | undefined;
}

/** The client's files and terminals for one session. Call them when a tool is used: the session has its id then. */
export interface ClientToolServices {
  /** The working directory of the session: an absolute path. */
  readonly cwd: string;
  /** Whether the client lets agents read files. */
  readonly canRead: boolean;
  /** Whether the client lets agents write files. */
  readonly canWrite: boolean;
  /** Whether the client lets agents run commands. */
  readonly canRunCommands: boolean;
  /** The client's files. */
  files(): Files;
  /** The client's terminals. */
  terminals(): Terminals;
}

/** An MCP server with the client's files and terminals as tools. */
export interface ClientTools {
  /** The server. The agent gets it beside the client's own servers. */
  readonly server: OutgoingMcpServer;
  /** Stops the server. Called when the session ends. */
  close(): Promise<void>;
}
