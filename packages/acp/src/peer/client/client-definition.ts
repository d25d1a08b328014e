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
import type { UnreadLimits } from "./session/unread-updates.ts";

export interface ClientDefinition {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Asks the user. Answer with the `optionId` of an option; undefined means no. Default: always no. */
  requestPermission?(
    request: PermissionRequest,
    context: RequestContext,
  ): PermissionAnswer | Promise<PermissionAnswer>;
  /**
   * Decides permission requests, file accesses and commands before `requestPermission`, `files` and `terminals` are called.
   * Default: `requestPermission` answers all requests, and files and terminals are used without a question.
   */
  readonly policy?: ClientPolicy;
  /** Shows a form, or an address to visit. Without it the client offers neither. */
  elicit?(
    request: ElicitationRequest,
    context: RequestContext,
  ): Promise<ElicitationResponse> | ElicitationResponse;
  /** Called when the agent reports that the flow of a URL elicitation is complete. */
  elicitationCompleted?(elicitationId: string): void;
  /** Files for v1 agents. An object with `readText` alone offers no writing, and the reverse. Default: none are offered. */
  readonly files?: ClientFiles | ((session: ClientSession) => ClientFiles);
  readonly terminals?: Terminals | ((session: ClientSession) => Terminals);
  readonly auth?: ClientAuthOptions;
  /**
   * Freezes every update before a listener sees it, so that a listener that changes one throws. For development: it costs
   * as much as reading the update. Default false.
   */
  readonly strict?: boolean;
  readonly extensions?: Extensions;
  /** The editions of the protocol to speak, newest first. Default: all. */
  readonly editions?: Editions;
  /** The unstable features to enable. Default: none. */
  readonly unstable?: UnstableFeatures;
  /** Receives errors and warnings. Silent by default. */
  readonly log?: Log;
  readonly connection?: ClientConnectionOptions;
  /** Put into the client's capabilities. */
  readonly _meta?: Meta;
}

/**
 * How users log in.
 *
 * @inline
 */
export interface ClientAuthOptions {
  /**
   * Tells the agent that this client runs terminal logins. Run the agent's program with the arguments of the method, then
   * start the agent again; `@parley/client` does both. Default false: agents do not offer such methods.
   */
  readonly terminal?: boolean;
}

/**
 * How the connections of a client behave.
 *
 * @inline
 */
export interface ClientConnectionOptions
  extends Pick<ConnectionOptions, "limits" | "tap" | "batches" | "noise" | "drainMs">,
    Partial<UnreadLimits> {
  /** The time for the agent to answer `initialize`. Default 60,000 ms. */
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
