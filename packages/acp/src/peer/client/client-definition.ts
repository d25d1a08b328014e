// Defines the handlers and options of a client, checks them, and derives its capabilities.

import type { ClientCapabilities } from "../../edition/agent-edition.ts";
import type { ProtocolVersion } from "../../edition/negotiate.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import type {
  ElicitationRequest,
  ElicitationResponse,
  PermissionOutcome,
  PermissionRequest,
} from "../../model/ask.ts";
import type { Meta } from "../../model/content.ts";
import type { Files, Terminals } from "../../model/services.ts";
import type { UnstableMethods } from "../../wire/decode.ts";
import { checkDefinition, type Keys, sharedKeys } from "../base/definition-rules.ts";
import type { ExtensionContext } from "../base/extensions.ts";
import type { ClientSession } from "./client-session.ts";
import type { UnreadLimits } from "./unread-updates.ts";

/** The context of a question. */
export interface RequestContext {
  /** Undefined when the question belongs to no session. */
  readonly session: ClientSession | undefined;
  /** Our request that the form or address belongs to, where it belongs to no session. */
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
  /** Asks the user. Answer with the id of an option; undefined means no. Default: always no. */
  requestPermission?(
    ask: PermissionRequest,
    context: RequestContext,
  ): Promise<PermissionOutcome | string | undefined> | PermissionOutcome | string | undefined;
  /** Shows a form, or an address to visit. Without it the client offers neither. */
  elicit?(
    ask: ElicitationRequest,
    context: RequestContext,
  ): Promise<ElicitationResponse> | ElicitationResponse;
  /** Called when the agent reports that the flow of a URL elicitation is complete. */
  elicitationCompleted?(elicitationId: string): void;
  /** The modes that `elicit` supports. Default both. */
  readonly elicitationModes?: readonly ("form" | "url")[];
  /** Files for v1 agents. Default: none are offered. */
  readonly files?: Files | ((session: ClientSession) => Files);
  readonly terminals?: Terminals | ((session: ClientSession) => Terminals);
  /**
   * Tells the agent that this client runs terminal logins. Run the agent's program with the arguments of the method, then
   * start the agent again; `@parley/client` does both. Default false: agents do not offer such methods.
   */
  readonly terminalAuth?: boolean;
  /**
   * Freezes every update before a listener sees it, so that a listener that changes one throws. For development: it costs
   * as much as reading the update. Default false.
   */
  readonly strict?: boolean;
  /** Newest first. Default both. */
  readonly versions?: readonly ProtocolVersion[];
  readonly unstable?: UnstableMethods;
  /** The time for the agent to answer `initialize`. Default 60,000 ms. */
  readonly handshakeTimeoutMs?: number;
  /** Put into the client's capabilities. */
  readonly _meta?: Meta;
  /** Requests and notifications outside the protocol; names begin with `_`. */
  readonly requests?: Readonly<Record<`_${string}`, (params: unknown, context: ExtensionContext) => unknown>>;
  readonly notifications?: Readonly<
    Record<`_${string}`, (params: unknown, context: ExtensionContext) => undefined>
  >;
  /** Requests and notifications outside the protocol without a handler above. */
  otherRequest?(method: string, params: unknown, context: ExtensionContext): unknown;
  otherNotification?(method: string, params: unknown): void;
}

const clientKeys: Keys<ClientDefinition> = {
  ...sharedKeys,
  requestPermission: true,
  elicit: true,
  elicitationCompleted: true,
  elicitationModes: true,
  files: true,
  terminals: true,
  terminalAuth: true,
  strict: true,
  handshakeTimeoutMs: true,
  otherRequest: true,
  otherNotification: true,
  noise: true,
  maxUnreadUpdates: true,
  maxUnreadChars: true,
};

/** Throws a TypeError for a definition that could not be served. */
export function checkClientDefinition(definition: ClientDefinition): void {
  checkDefinition("client", definition, clientKeys);
  if (definition.versions?.length === 0)
    throw new TypeError("client: versions is an empty list; leave it out, or name the versions to speak");
}

export function offeredFeatures(definition: ClientDefinition): ClientCapabilities {
  const { files, terminals, elicit, elicitationModes = ["form", "url"], terminalAuth = false } = definition;
  // files that are made per session are taken to be readable and writable
  const fixed = typeof files === "object" ? files : undefined;
  return {
    readTextFile: files !== undefined && (fixed?.canRead ?? true),
    writeTextFile: files !== undefined && (fixed?.canWrite ?? true),
    terminal: terminals !== undefined,
    terminalAuth,
    elicitationForm: elicit !== undefined && elicitationModes.includes("form"),
    elicitationUrl: elicit !== undefined && elicitationModes.includes("url"),
    booleanOptions: true,
    notices: true,
    compaction: true,
  };
}
