// The interface through which a session uses the connection to its client.

import type { AgentEdition, ClientCapabilities, Introduction } from "../../../edition/agent-edition.ts";
import type { Dialect } from "../../../edition/dialect.ts";
import type { Log } from "../../../jsonrpc/connection-options.ts";
import type { RequestOptions } from "../../../jsonrpc/pending-requests.ts";
import type { Author } from "../../../model/entry.ts";
import type { ModelRules } from "../../../model/model-rules.ts";
import type { Successor } from "../../../model/successor.ts";
import type { McpNotices } from "../../mcp/session-servers.ts";
import type { TerminalOutputs } from "./terminal-outputs.ts";

/** Sends what a session says. A session is attached to another sender when its client reconnects. */
export interface SessionSender {
  readonly edition: AgentEdition;
  /** False as soon as the connection has begun to close. */
  readonly isOpen: boolean;
  readonly client: Introduction<ClientCapabilities>;
  /** The principal for which the client speaks. Undefined for the one local user. */
  readonly author: Author | undefined;
  /** Rules for what the app sends; undefined where they are not loaded. */
  readonly rules: ModelRules | undefined;
  /** URL elicitations whose flow is not over. Their ids are unique on a connection. */
  readonly openUrls: Set<string>;
  /** The dialect that the client speaks; undefined for version 1 and version 2. */
  readonly dialect: Dialect | undefined;
  /** Output of the client's terminals that comes without being asked for. */
  readonly terminalOutput: TerminalOutputs;
  /** Notifications of requests to MCP servers of the client. */
  readonly mcpNotices: McpNotices;
  /** The agent behind this one, in a chain of agents. */
  readonly successor: Successor | undefined;
  readonly log: Log;
  /** The params of `session/update`. Throws when the update is not valid. */
  checkUpdate(sessionId: string, update: object): object;
  /** How large a message may be. */
  readonly maxSentBytes: number;
  /** Throws when a message with this text is too large. */
  checkSize(text: string): void;
  /**
   * Sends an update that was made from a valid one. `text` is the whole message. `update` may be left out where it
   * has no custom data of the notification. Returns a promise only when the client is slow.
   */
  sendEncoded(sessionId: string, update: object | undefined, text: string): Promise<void> | undefined;
  /** Whether `sendLines` can be used. */
  readonly takesLines: boolean;
  /** Sends many such messages at once: whole lines, each of which was checked with `checkSize`. */
  sendLines(lines: string): Promise<void> | undefined;
  /** Checks and sends an update. */
  sendUpdate(sessionId: string, update: object): Promise<void> | undefined;
  /** Sends a request of the protocol, validated both ways. */
  request(method: string, params: unknown, options?: RequestOptions<unknown>): Promise<unknown>;
  /** Sends a notification of the protocol, validated. */
  notify(method: string, params: unknown): void;
  requestExtension(method: string, params: unknown, options?: RequestOptions<unknown>): Promise<unknown>;
}
