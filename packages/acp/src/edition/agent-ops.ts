// The operations that a client can ask of an agent, and what the two say of themselves, in terms of the model.

import type {
  AuthMethod,
  AvailableCommand,
  ContentBlock,
  Implementation,
  McpServer,
  Meta,
  SessionConfigOption,
  SystemPrompt,
} from "../model/content.ts";

/** What a client offers. What it does not declare, it does not support. */
export interface ClientFeatures {
  readonly readFiles: boolean;
  readonly writeFiles: boolean;
  readonly terminals: boolean;
  readonly terminalAuth: boolean;
  readonly elicitationForm: boolean;
  readonly elicitationUrl: boolean;
  /** These kinds of options and updates may be sent. */
  readonly booleanOptions: boolean;
  readonly notices: boolean;
  readonly compaction: boolean;
}

/** What an agent offers. */
export interface AgentFeatures {
  readonly image: boolean;
  readonly audio: boolean;
  readonly embeddedContext: boolean;
  readonly mcpStdio: boolean;
  readonly mcpHttp: boolean;
  readonly mcpSse: boolean;
  /** Always true in version 1. */
  readonly sessions: boolean;
  readonly load: boolean;
  readonly resume: boolean;
  readonly list: boolean;
  readonly close: boolean;
  readonly delete: boolean;
  readonly fork: boolean;
  readonly additionalDirectories: boolean;
  readonly systemPrompt: boolean;
  /** A system prompt may take the place of the agent's own. */
  readonly systemPromptOverride: boolean;
  readonly logout: boolean;
}

/** One side's part of the handshake. */
export interface Introduction<Features> {
  readonly info: Implementation | undefined;
  readonly features: Features;
  readonly meta: Meta | undefined;
}

export interface AgentIntroduction extends Introduction<AgentFeatures> {
  readonly authMethods: readonly AuthMethod[];
}

/** The complete environment of one activation of a session; nothing is inherited from an earlier one. */
export interface Activation {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly mcpServers: readonly McpServer[];
  readonly systemPrompt?: SystemPrompt;
  readonly meta?: Meta;
}

export type AgentOp =
  | { readonly op: "login"; readonly methodId: string }
  | { readonly op: "logout" }
  | { readonly op: "new"; readonly activation: Activation }
  | {
      readonly op: "activate";
      readonly sessionId: string;
      readonly activation: Activation;
      /** Whether the history is sent before the answer. */
      readonly replay: boolean;
    }
  | { readonly op: "fork"; readonly sessionId: string; readonly activation: Activation }
  | { readonly op: "list"; readonly cwd?: string; readonly cursor?: string }
  | { readonly op: "close" | "delete"; readonly sessionId: string }
  | {
      readonly op: "prompt";
      readonly sessionId: string;
      readonly prompt: readonly ContentBlock[];
      readonly meta?: Meta;
    }
  | {
      readonly op: "set_option";
      readonly sessionId: string;
      readonly configId: string;
      readonly value: string | boolean;
      /** Where the request has the value. Default `/value`. */
      readonly valuePath?: string;
    }
  | { readonly op: "cancel_tool"; readonly sessionId: string; readonly toolCallId: string }
  | { readonly op: "cancel_terminal"; readonly sessionId: string; readonly terminalId: string };

export type PromptOp = Extract<AgentOp, { op: "prompt" }>;
export type SessionOp = Exclude<AgentOp, PromptOp>;

export interface SessionListing {
  readonly sessionId: string;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly title?: string;
  /** RFC 3339. */
  readonly updatedAt?: string;
}

/** A page of sessions, of a store or of another agent. */
export interface ListedSessions {
  readonly sessions: readonly (Omit<SessionListing, "updatedAt"> & {
    readonly updatedAt?: string | number;
  })[];
  readonly nextCursor?: string;
}

/** What the answer that opens a session says about it. */
export interface SessionSetup {
  readonly sessionId: string;
  readonly configOptions: readonly SessionConfigOption[];
  readonly availableCommands: readonly AvailableCommand[];
  readonly meta?: Meta;
}
