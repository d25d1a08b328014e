// The definition of a client: its handlers and options.

import type { ProtocolVersion } from "../../edition/negotiate.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer, PermissionAsk } from "../../model/ask.ts";
import type { Meta } from "../../model/content.ts";
import type { Files } from "../../model/files.ts";
import type { Terminals } from "../../model/terminals.ts";
import type { UnstableMethods } from "../../wire/decode.ts";
import type { ExtensionContext } from "../base/extensions.ts";
import type { ClientSession } from "./client-session.ts";
import type { UnreadLimits } from "./unread-updates.ts";

/** Where a question comes from, and when it is no longer worth an answer. */
export interface AskContext {
  /** Undefined for a question that belongs to no session. */
  readonly session: ClientSession | undefined;
  /** Of a form or an address: the request of ours that it belongs to, where that is no session's. */
  readonly requestId?: number | string;
  /** Aborts when the user cancels, the agent withdraws the question, or the connection ends. */
  readonly signal: AbortSignal;
}

export interface ClientDefinition
  extends Pick<ConnectionOptions, "limits" | "log" | "tap" | "batches" | "noise" | "drainMs">,
    Partial<UnreadLimits> {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Asks the user. The id of an option will do as an answer; nothing means no. Default: always no. */
  permission?(
    ask: PermissionAsk,
    context: AskContext,
  ): Promise<PermissionAnswer | string | undefined> | PermissionAnswer | string | undefined;
  /** Lets the user fill in a form or visit an address. Without it the client offers neither. */
  elicit?(ask: ElicitationAsk, context: AskContext): Promise<ElicitationAnswer> | ElicitationAnswer;
  /** The flow behind a URL elicitation is over; the agent says so when it knows. */
  elicitationCompleted?(elicitationId: string): void;
  /** What `elicit` can do. Default both. */
  readonly elicitationModes?: readonly ("form" | "url")[];
  /** Files for v1 agents. Without them the client offers none. */
  readonly files?: Files | ((session: ClientSession) => Files);
  readonly terminals?: Terminals | ((session: ClientSession) => Terminals);
  /**
   * Tells the agent that this client runs terminal logins. Run the agent's program with the arguments of the method, then
   * start the agent again; `@parley/client` does both. Default false: agents do not offer such methods.
   */
  readonly terminalAuth?: boolean;
  /**
   * Freezes every update before a listener sees it, so that changing one throws instead of changing what other
   * listeners see. For development: it costs as much as reading the update. Default false.
   */
  readonly strict?: boolean;
  /** Newest first. Default both. */
  readonly versions?: readonly ProtocolVersion[];
  readonly unstable?: UnstableMethods;
  /** How long the agent may take to answer `initialize`. Default 60,000 ms. */
  readonly handshakeTimeoutMs?: number;
  /** Put into the client's capabilities. */
  readonly meta?: Meta;
  /** Requests and notifications outside the protocol; names begin with `_`. */
  readonly requests?: Readonly<Record<`_${string}`, (params: unknown, context: ExtensionContext) => unknown>>;
  readonly notifications?: Readonly<
    Record<`_${string}`, (params: unknown, context: ExtensionContext) => undefined>
  >;
  /** Requests and notifications outside the protocol that have no handler above; for whoever passes them on. */
  otherRequest?(method: string, params: unknown, context: ExtensionContext): unknown;
  otherNotification?(method: string, params: unknown): void;
}
