// Defines the handlers and options of a client, checks them, and derives its capabilities.

import { milliseconds } from "../../base/deadline.ts";
import type { NoPromise } from "../../base/no-promise.ts";
import { optional } from "../../base/objects.ts";
import { clientDefinitionGroups, clientDefinitionKeys } from "../../base/option-keys.gen.ts";
import { vetoMethod } from "../../base/parley-extensions.ts";
import type { ClientCapabilities } from "../../edition/agent-edition.ts";
import type { Editions } from "../../edition/negotiate.ts";
import type { ConnectionOptions, Log } from "../../jsonrpc/connection-options.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionRequest } from "../../model/ask.ts";
import type { Meta } from "../../model/content.ts";
import type { McpKit } from "../../model/mcp.ts";
import type { ClientFiles, Files, Terminals } from "../../model/services.ts";
import { lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import { checkDefinition, type HandshakeMeta } from "../base/definition-rules.ts";
import type { ExtensionContext, Extensions } from "../base/extensions.ts";
import type { Between } from "../base/own-proxies.ts";
import type { McpReceipt } from "../mcp/receipts.ts";
import { type ClientPolicy, checkPolicy } from "./policy/client-policy.ts";
import type { PermissionAnswer } from "./policy/permissions.ts";
import type { ClientSession, RequestContext } from "./session/client-session.ts";

/** What a client does for agents, and what it allows. Only `name` and `version` are required. */
export interface ClientDefinition {
  /** The name of the client for programs, such as "my-client". */
  readonly name: string;
  /** The version of the client, such as "1.0.0". */
  readonly version: string;
  /** The name of the client for people. Default: `name`. */
  readonly title?: string | undefined;
  /**
   * Asks the user for permission. Return the `optionId` of one of `request.options`, or undefined for no. Anything else,
   * such as `true`, counts as no and is logged. Default: the answer is always no.
   */
  readonly requestPermission?:
    | ((request: PermissionRequest, context: RequestContext) => PermissionAnswer | Promise<PermissionAnswer>)
    | undefined;
  /**
   * Decides permission requests, file accesses, commands and calls of `tools` before `requestPermission`, `files` and
   * `terminals` are called. Only v1 agents use the client's files and terminals. When an agent acts by itself, the policy sees
   * only its permission requests. A policy may provide files and terminals itself. They are used where you give no `files` and
   * `terminals`. Default: every permission request goes to `requestPermission`, and `files` and `terminals` are used without asking.
   */
  readonly policy?: ClientPolicy | undefined;
  /**
   * Shows a form to fill in or a URL to visit, depending on `request.mode`. More modes may be added: give a `switch` over it
   * a `default:` that returns `{ action: "cancel" }`. Default: agents are told that the client supports neither.
   */
  readonly elicit?:
    | ((
        request: ElicitationRequest,
        context: RequestContext,
      ) => Promise<ElicitationResponse> | ElicitationResponse)
    | undefined;
  /**
   * Called when the agent reports that the user has finished at the URL of an elicitation of mode "url". It must not be
   * async: nothing awaits it.
   */
  readonly elicitationCompleted?:
    | ((elicitationId: string, notice: { readonly _meta?: Meta }) => NoPromise)
    | undefined;
  /**
   * The files that agents may read and write: one object for all sessions, or a function that creates one per session,
   * which is closed with the session. An object with only `readText` offers no writing; with only `writeText`, no reading.
   * Only v1 agents use them; others use the file system directly. `localFiles` of `@parley/acp/node` confines agents to its
   * `roots`. Null offers none, even if `policy` has files. Default: those of `policy`, else none.
   */
  readonly files?: (ClientFiles | ((session: ClientSession) => ClientFiles)) | null | undefined;
  /**
   * Runs commands for agents: one object for all sessions, or a function that creates one per session, which is closed
   * with the session. Only v1 agents use them; others run commands directly. Default: those of `policy`, else none.
   */
  readonly terminals?: (Terminals | ((session: ClientSession) => Terminals)) | undefined;
  /**
   * Makes MCP servers of `tools` that sessions are given, and a bridge for agents that have no MCP over ACP: `mcpKit()` of
   * `@parley/mcp`. Default: none; tools must then be MCP providers, and the agent must have MCP over ACP.
   */
  readonly mcp?: McpKit | undefined;
  /**
   * Called once for each server that `tools` of a session became: when the agent first lists or calls it, or when it has
   * done neither within `connection.mcpReceiptMs`. It must not be async: nothing awaits it.
   */
  readonly mcpReceipt?: ((receipt: McpReceipt) => NoPromise) | undefined;
  /** The kinds of login that this client can run. */
  readonly auth?: ClientAuthOptions | undefined;
  /**
   * Freezes every update, so that a listener that changes one throws. Use it in development: freezing costs as much as
   * decoding. Default false.
   */
  readonly strict?: boolean | undefined;
  /** Requests and notifications outside the protocol; their names begin with `_`. Default: none. */
  readonly extensions?: Extensions | undefined;
  /** The editions of the protocol to speak, newest first. Default: `["v2", "v1"]`. */
  readonly editions?: Editions | undefined;
  /** The unstable features of the protocol to enable, or "*" for all. Default: none. */
  readonly unstable?: UnstableFeatures | undefined;
  /**
   * Proxies in front of every agent that it connects to, the first of them next to the client. Needs the unstable feature "proxies".
   *
   * @experimental
   */
  readonly proxies?: readonly Between[] | undefined;
  /** Receives errors and warnings. Silent by default. */
  readonly log?: Log | undefined;
  /** Limits and timeouts of the connections. */
  readonly connection?: ClientConnectionOptions | undefined;
  /** Custom data for the client's capabilities. */
  readonly _meta?: Meta | undefined;
  /** Custom data for other parts of the handshake. */
  readonly handshakeMeta?: HandshakeMeta | undefined;
}

/**
 * The kinds of login that a client can run.
 *
 * @inline
 */
export interface ClientAuthOptions {
  /**
   * Tells agents that this client supports terminal logins. Your code must then run the agent's program with the arguments
   * of the method and restart the agent; `@parley/client` does both. Default false: agents do not offer such methods.
   */
  readonly terminal?: boolean | undefined;
}

/**
 * Limits and timeouts of a client's connections.
 *
 * @inline
 */
export interface ClientConnectionOptions
  extends Pick<ConnectionOptions, "limits" | "tap" | "batches" | "noise" | "drainMs"> {
  /** How many updates may wait for a loop over a prompt before it fails with "overflow". Default 16,384. */
  readonly maxUnreadUpdates?: number | undefined;
  /** How many characters of updates may wait for a loop before it fails. Default 33,554,432. */
  readonly maxUnreadChars?: number | undefined;
  /** How long an agent may leave a server of `tools` unused before `mcpReceipt` is told, in milliseconds. Default 10,000. */
  readonly mcpReceiptMs?: number | undefined;
  /** How long the agent may take to answer `initialize`, in milliseconds. Default 60,000. */
  readonly handshakeTimeoutMs?: number | undefined;
}

/** For a relay: receives messages that have no handler, and offers only what its own client supports. */
export interface RelayHooks {
  otherRequest(method: string, params: unknown, context: ExtensionContext): unknown;
  otherNotification(method: string, params: unknown): void;
  readonly elicitationModes: readonly ("form" | "url")[];
  authStatusUpdated(status: object): void;
  /** An update of the agent was dropped; `what` says which and why. */
  updateDropped(sessionId: string, what: string): void;
}

/** Throws a TypeError for a definition that could not be served. */
export function checkClientDefinition(definition: ClientDefinition): void {
  checkDefinition("client", definition, clientDefinitionKeys, clientDefinitionGroups);
  checkPolicy(definition.policy);
  const { mcpReceiptMs } = definition.connection ?? {};
  if (mcpReceiptMs !== undefined) milliseconds("client: connection.mcpReceiptMs", mcpReceiptMs);
  const { files } = definition;
  if (files !== undefined && files !== null && typeof files !== "function") {
    const { readTextFile, writeTextFile } = offeredFeatures(definition);
    if (!readTextFile && !writeTextFile)
      throw new TypeError(
        "client: files must have readText, writeText or both, or be a function that creates such an object for a session; " +
          "leave it out to offer none",
      );
  }
}

export function offeredFeatures(
  definition: ClientDefinition,
  elicitationModes: readonly string[] = ["form", "url"],
): ClientCapabilities {
  const { files, terminals, elicit, auth: { terminal: terminalAuth = false } = {} } = definition;
  const { policy, handshakeMeta: { parts: partsMeta } = {} } = definition;
  const isGuarded = policy?.services !== undefined;
  const _meta = policy?.veto === undefined ? definition._meta : { [vetoMethod]: true, ...definition._meta };
  // files that are made per session are taken to be readable and writable
  const isMade = typeof files === "function" || (files === undefined && isGuarded);
  const fixed: Partial<Files> | null | undefined = typeof files === "function" ? undefined : files;
  return {
    readTextFile: isMade || (typeof fixed?.readText === "function" && fixed.canRead !== false),
    writeTextFile: isMade || (typeof fixed?.writeText === "function" && fixed.canWrite !== false),
    terminal: terminals !== undefined || isGuarded,
    terminalAuth,
    elicitationForm: elicit !== undefined && elicitationModes.includes("form"),
    elicitationUrl: elicit !== undefined && elicitationModes.includes("url"),
    booleanOptions: true,
    notices: true,
    compaction: true,
    plans: lists(definition.unstable ?? [], "plans"),
    subagents: lists(definition.unstable ?? [], "subagents"),
    terminalOutput: true,
    ...optional({ _meta, partsMeta }),
  };
}
