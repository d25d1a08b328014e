// Defines the handlers and options of a client, checks them, and derives its capabilities.

import type { ClientCapabilities } from "../../edition/agent-edition.ts";
import type { Editions } from "../../edition/negotiate.ts";
import type { ConnectionOptions, Log } from "../../jsonrpc/connection-options.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionRequest } from "../../model/ask.ts";
import type { Meta } from "../../model/content.ts";
import type { ClientFiles, Files, Terminals } from "../../model/services.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import { checkDefinition, type GroupKeys, type Keys, sharedKeys } from "../base/definition-rules.ts";
import type { ExtensionContext, Extensions } from "../base/extensions.ts";
import { type ClientPolicy, checkPolicy } from "./policy/client-policy.ts";
import type { PermissionAnswer } from "./policy/permission-answer.ts";
import type { ClientSession, RequestContext } from "./session/client-session.ts";

/** What a client does for agents, and what it allows. Only `name` and `version` are needed. */
export interface ClientDefinition {
  /** The name of the client for programs, such as "my-client". */
  readonly name: string;
  /** The version of the client, such as "1.0.0". */
  readonly version: string;
  /** The name of the client for people. Default: `name`. */
  readonly title?: string;
  /**
   * Asks the user for permission. Return the `optionId` of one of `request.options`, or undefined for no. Anything else,
   * such as `true`, counts as no and is logged. Default: always no.
   */
  requestPermission?(
    request: PermissionRequest,
    context: RequestContext,
  ): PermissionAnswer | Promise<PermissionAnswer>;
  /**
   * Decides permission requests, file accesses and commands before `requestPermission`, `files` and `terminals` are
   * called. Only v1 agents use the client's files and terminals; of what an agent does by itself, the policy sees only
   * the permission requests. Default: every permission request goes to `requestPermission`, and `files` and `terminals`
   * are used without a question.
   */
  readonly policy?: ClientPolicy;
  /**
   * Shows a form to fill in, or an address to visit. `request.mode` tells which; more modes may be added: give a `switch`
   * over it a `default:` that returns `{ action: "cancel" }`. Default: agents are told that the client shows neither.
   */
  elicit?(
    request: ElicitationRequest,
    context: RequestContext,
  ): Promise<ElicitationResponse> | ElicitationResponse;
  /** Called when the agent reports that the user is done with the address of an elicitation of mode "url". */
  elicitationCompleted?(elicitationId: string): void;
  /**
   * The files that agents may read and write: one object for all sessions, or a function that makes one for each
   * session, which is closed with it. Only v1 agents use them; others use the file system themselves. An object
   * with `readText` alone offers no writing, and the reverse. Default: none are offered. `localFiles` of `@parley/acp/node` keeps agents inside the roots of the session.
   */
  readonly files?: ClientFiles | ((session: ClientSession) => ClientFiles);
  /**
   * Runs commands for agents: one object for all sessions, or a function that makes one for each session, which is closed
   * with it. Only v1 agents use them; others run commands themselves. Default: none are offered.
   */
  readonly terminals?: Terminals | ((session: ClientSession) => Terminals);
  /** The kinds of login that this client can run. */
  readonly auth?: ClientAuthOptions;
  /**
   * Freezes every update, so that a listener that changes one throws. For development: it costs as much as reading the
   * update. Default false.
   */
  readonly strict?: boolean;
  /** Requests and notifications outside the protocol; their names begin with `_`. Default: none. */
  readonly extensions?: Extensions;
  /** The editions of the protocol to speak, newest first. Default: `["v2", "v1"]`. */
  readonly editions?: Editions;
  /** The unstable features of the protocol to enable, or "*" for all. Default: none. */
  readonly unstable?: UnstableFeatures;
  /** Receives errors and warnings. Silent by default. */
  readonly log?: Log;
  /** Limits and times of the connections. */
  readonly connection?: ClientConnectionOptions;
  /** Custom data for the client's capabilities. */
  readonly _meta?: Meta;
}

/**
 * The kinds of login that a client can run.
 *
 * @inline
 */
export interface ClientAuthOptions {
  /**
   * Tells agents that this client runs terminal logins: it runs the agent's program with the arguments of the method, then
   * starts the agent again. That is up to you; `@parley/client` does both. Default false: agents do not offer such methods.
   */
  readonly terminal?: boolean;
}

/**
 * Limits and times of a client's connections.
 *
 * @inline
 */
export interface ClientConnectionOptions
  extends Pick<ConnectionOptions, "limits" | "tap" | "batches" | "noise" | "drainMs"> {
  /** How many updates may wait for a loop over a prompt before it fails with "overflow". Default 16,384. */
  readonly maxUnreadUpdates?: number;
  /** How many characters of updates may wait for a loop before it fails. Default 33,554,432. */
  readonly maxUnreadChars?: number;
  /** How long the agent may take to answer `initialize`, in milliseconds. Default 60,000. */
  readonly handshakeTimeoutMs?: number;
}

/** For a relay: receives what belongs to no handler, and offers only what its own client supports. */
export interface RelayHooks {
  otherRequest(method: string, params: unknown, context: ExtensionContext): unknown;
  otherNotification(method: string, params: unknown): void;
  readonly elicitationModes: readonly ("form" | "url")[];
}

const clientKeys: Keys<ClientDefinition> = {
  ...sharedKeys,
  requestPermission: true,
  policy: true,
  elicit: true,
  elicitationCompleted: true,
  files: true,
  terminals: true,
  auth: true,
  strict: true,
};
const groupKeys: GroupKeys<ClientDefinition, "auth" | "extensions" | "connection"> = {
  auth: { terminal: true },
  extensions: { requests: true, notifications: true },
  connection: {
    limits: true,
    tap: true,
    batches: true,
    noise: true,
    drainMs: true,
    maxUnreadUpdates: true,
    maxUnreadChars: true,
    handshakeTimeoutMs: true,
  },
};

/** Throws a TypeError for a definition that could not be served. */
export function checkClientDefinition(definition: ClientDefinition): void {
  checkDefinition("client", definition, clientKeys, groupKeys);
  checkPolicy(definition.policy);
  const { files } = definition;
  if (files !== undefined && typeof files !== "function") {
    const { readTextFile, writeTextFile } = offeredFeatures(definition);
    if (!readTextFile && !writeTextFile)
      throw new TypeError(
        "client: files must have readText, writeText or both, or be a function that makes them for a session; " +
          "leave it out to offer none",
      );
  }
}

export function offeredFeatures(
  definition: ClientDefinition,
  elicitationModes: readonly string[] = ["form", "url"],
): ClientCapabilities {
  const { files, terminals, elicit, auth: { terminal: terminalAuth = false } = {} } = definition;
  // files that are made per session are taken to be readable and writable
  const isMade = typeof files === "function";
  const fixed: Partial<Files> | null | undefined = isMade ? undefined : files;
  return {
    readTextFile: isMade || (typeof fixed?.readText === "function" && fixed.canRead !== false),
    writeTextFile: isMade || (typeof fixed?.writeText === "function" && fixed.canWrite !== false),
    terminal: terminals !== undefined,
    terminalAuth,
    elicitationForm: elicit !== undefined && elicitationModes.includes("form"),
    elicitationUrl: elicit !== undefined && elicitationModes.includes("url"),
    booleanOptions: true,
    notices: true,
    compaction: true,
  };
}
