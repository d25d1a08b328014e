// What somebody who puts a relay between two peers decides.

import type { ProtocolVersion } from "../../edition/negotiate.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import type { McpServer } from "../../model/content.ts";
import type { Files } from "../../model/files.ts";
import type { Terminals } from "../../model/terminals.ts";
import type { UnstableMethods } from "../../wire/decode.ts";

export interface RelayOptions extends Pick<ConnectionOptions, "limits" | "log"> {
  /** The version that the client is offered. Default: the one that it asks for, if the relay knows it. */
  readonly as?: ProtocolVersion;
  /**
   * What becomes of something that the other version cannot say. "lossy" (default) says it as nearly as possible, and
   * what was lost in the log and in `_meta` under `parley.dev/lost`: of the update, and of what ends the turn, which is
   * the answer to the prompt on version 1 and the idle state on version 2. "strict" leaves updates out whole, refuses
   * requests with -32602, and logs both.
   */
  readonly losses?: "lossy" | "strict";
  /** How long the agent may take to answer `initialize`. Default 60,000 ms. */
  readonly handshakeTimeoutMs?: number;
  /** Default "*": whoever only passes things on has no opinion on what is stable. */
  readonly unstable?: UnstableMethods;
  /**
   * The text of a file as it is now: it completes a patch to the two texts that version 1 shows. The path is the
   * agent's word: read only what is below the roots of its session.
   */
  readText?(path: string, roots: readonly string[]): string | undefined;
  /** Lets an agent of version 2 use the files and terminals of a client of version 1, through an MCP server. */
  clientTools?(services: ClientToolServices): Promise<ClientTools>;
}

/** A session's files and terminals at the client. To be called once a tool is used: the session has its id by then. */
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
  readonly server: McpServer;
  close(): Promise<void>;
}
