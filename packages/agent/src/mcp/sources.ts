// Where the MCP servers of a session come from, beside those that the client names.

import type { McpServer } from "@parley/acp/model";

/** MCP servers that the agent has of its own. A server of the client with the same name takes its place. */
export interface McpSources {
  /** The user's own servers. */
  readonly servers?: readonly McpServer[] | undefined;
  /** The problems of the user's servers, a sentence each. The user is told with the first prompt. */
  readonly problems?: readonly string[] | undefined;
  /**
   * Reads the servers that the files of a folder name. Called with the first prompt for each folder of the session. The user
   * is asked about each server that was not decided before, and nothing of it is started until then. Default: none.
   */
  readonly ofFolder?: ((folder: string) => Promise<FolderServers> | FolderServers) | undefined;
  /** An absolute path to a folder of the user, for logins to servers (OAuth). Default: no logins. */
  readonly loginFolder?: string | undefined;
}

/** The servers that the files of a folder name. */
export interface FolderServers {
  /** The servers, as they would be started. */
  readonly servers: readonly FolderServer[];
  /** The entries that cannot be used, a sentence each. The user is told. */
  readonly problems: readonly string[];
}

/** A server that the files of a folder name. */
export interface FolderServer {
  /** The server. With `"_parley.dev/origin": "workspace"` in its `_meta`, it must be at a public address. */
  readonly server: McpServer;
  /** The text that the user has to see before it is started: its command line or address, and its variables. */
  readonly lines: readonly string[];
  /** Files of the folder that the server starts or reads, absolute. Commands in a sandbox cannot write them once it is allowed. */
  readonly files?: readonly string[] | undefined;
  /** The user's earlier decision about exactly this entry. */
  readonly decision: "always" | "never" | undefined;
  /** Remembers the decision for exactly this entry. May throw. */
  remember(decision: "always" | "never"): void;
}
