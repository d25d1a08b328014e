// The agent's side of one protocol version, and the operations and features that both versions share.

import type { PermissionOutcome, PermissionRequest } from "../model/ask.ts";
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
import type { JsonValue } from "../model/custom-types.ts";
import type { PlainToolCall } from "../model/plain-tool-call.ts";
import type { SessionPatch } from "../model/store.ts";
import type { PromptResult, SessionUpdate } from "../model/update.ts";
import type { MethodRow } from "../wire/method-row.ts";
import type { ProtocolVersion } from "./negotiate.ts";

/** A request or a notification to send. */
export interface WireCall {
  readonly method: string;
  readonly params: unknown;
}

/** Called with what a version cannot express, in words for a person. */
export type Lost = (what: string) => void;

/** One session as this version shows it. */
export interface AgentSessionEdition {
  /**
   * The messages for one update of the model: usually one, sometimes none or several.
   */
  encode(update: SessionUpdate, lost?: Lost): object | readonly object[] | undefined;
  /**
   * As `encode`, for an update whose JSON is at hand: the JSON of its one message, if that is the same but for the tag.
   * Undefined otherwise: `encode` has to be called.
   */
  encodeJson(update: SessionUpdate, json: string): string | undefined;
  /** As `encodeJson`, for a tool call that has not been parsed. */
  encodeToolCall(call: PlainToolCall): string | undefined;
  /** The client has a terminal with this id, and can show it. */
  addClientTerminal(terminalId: string): void;
}

/** When a prompt is answered, and with what. */
export interface PromptPolicy {
  /** A prompt is answered, and its message echoed, once it is part of the conversation: not at the end of the work. */
  readonly answersAtInsertion: boolean;
  /** The result for a prompt whose message was inserted. */
  inserted(messageId: string): object;
  /** The result for a prompt whose work has ended. Throws RequestError where the version says so. */
  ended(outcome: PromptResult): object;
}

export interface AgentEdition {
  readonly version: ProtocolVersion;
  readonly prompts: PromptPolicy;
  /** The answer that opens a session has its commands; otherwise they follow as an update. */
  readonly setupHasCommands: boolean;
  /** `initialize` may be repeated until the first other request. */
  readonly reinitializes: boolean;
  /** A change of a file is shown by its texts, not by a patch. */
  readonly showsDiffTexts: boolean;
  /** A message can be said again as a whole. Otherwise it is only ever sent in pieces. */
  readonly hasWholeMessages: boolean;
  /** The ways to log in, as this version writes them. */
  authMethods(methods: readonly AuthMethod[]): readonly object[];
  /** The params of `initialize` as this version expects them, before they are validated. */
  initializeParams(params: unknown): unknown;
  client(params: object): Introduction<ClientCapabilities>;
  /** The answer to initialize. */
  introduce(agent: AgentIntroduction, lost?: Lost): object;
  /** The operation that a request asks for; undefined for one that this version does not route. */
  decode(method: string, params: object, options: OptionsOf): AgentOp | undefined;
  /** The answer to a request whose operation gave this result. */
  encode(method: string, result: AgentOpResult): object;
  /** `takesJson`: the client reads the value of an option that is neither a text nor a boolean from its custom data. */
  session(setup: SessionSetup, client: ClientCapabilities, takesJson?: boolean): AgentSessionEdition;
  permission(sessionId: string, ask: PermissionRequest, lost?: Lost): WireCall;
  /** The update that ends what stood for the question, where this version needed such a thing. */
  permissionOver(ask: PermissionRequest, answer: PermissionOutcome): object | undefined;
}

export type OptionsOf = (sessionId: string) => readonly SessionConfigOption[];

export type AgentOpResult =
  | { readonly kind: "none"; readonly _meta?: Meta | undefined }
  | { readonly kind: "session"; readonly setup: SessionSetup; readonly client: ClientCapabilities }
  | { readonly kind: "page"; readonly page: ListedSessions }
  /** A result whose JSON is the same in both versions. */
  | { readonly kind: "value"; readonly value: object }
  | {
      readonly kind: "options";
      readonly options: readonly SessionConfigOption[];
      readonly client: ClientCapabilities;
      readonly _meta?: Meta | undefined;
    };

/** The features of a client. */
export interface ClientCapabilities {
  /** Agents may read its files. Always false on v2. */
  readonly readTextFile: boolean;
  /** Agents may write its files. Always false on v2. */
  readonly writeTextFile: boolean;
  /** Agents may run commands in its terminals. Always false on v2. */
  readonly terminal: boolean;
  /** It can run the agent's program in a terminal for a login. */
  readonly terminalAuth: boolean;
  /** It can show forms (`turn.elicit`). */
  readonly elicitationForm: boolean;
  /** It can ask the user to visit an address (`turn.elicit`). */
  readonly elicitationUrl: boolean;
  /** It shows session options that are on or off. Other clients get a choice of two instead. Always true on v2. */
  readonly booleanOptions: boolean;
  /** It shows notices. To other clients they are not sent. Always true on v2. */
  readonly notices: boolean;
  /** It shows when the agent compacts the conversation. To other clients that is not sent. Always true on v2. */
  readonly compaction: boolean;
  /**
   * It shows several plans, plans that are documents, and removed plans. Other v1 clients see one plan. Needs the unstable
   * feature "plans".
   */
  readonly plans: boolean;
  /** It shows subagents and messages between sessions. Needs the unstable feature "subagents". */
  readonly subagents: boolean;
  /** It shows the output of display terminals while it grows. To other v1 clients terminals are text. Always true on v2. */
  readonly terminalOutput: boolean;
  /** Custom data of the client's capabilities. */
  readonly _meta?: Meta;
  /** Custom data of parts of the capabilities, by their path, such as "elicitation.form" or, on v1, "fs". */
  readonly partsMeta?: PartsMeta;
}

/**
 * Custom data of parts of the capabilities, by their path. Paths are those of v2, such as "session.prompt". Parts that only v1
 * has are called as there.
 *
 * @inline
 */
export type PartsMeta = Readonly<Record<string, Meta>>;

/** The features of an agent. */
export interface AgentCapabilities {
  /** Prompts may contain images. */
  readonly image: boolean;
  /** Prompts may contain audio. */
  readonly audio: boolean;
  /** Prompts may contain the text or bytes of files. */
  readonly embeddedContext: boolean;
  /** Sessions may have MCP servers that are started as commands. */
  readonly mcpStdio: boolean;
  /** Sessions may have MCP servers by Streamable HTTP. */
  readonly mcpHttp: boolean;
  /** Sessions may have MCP servers by the older HTTP+SSE. */
  readonly mcpSse: boolean;
  /**
   * Sessions may have MCP servers over ACP: in versions 1 and 2 servers of the client, in a dialect servers of other agents.
   *
   * @experimental
   */
  readonly mcpAcp: boolean;
  /** It has sessions. Always true on v1. */
  readonly sessions: boolean;
  /** `loadSession` works. */
  readonly load: boolean;
  /** `resumeSession` works. */
  readonly resume: boolean;
  /** `listSessions` works. */
  readonly list: boolean;
  /** Sessions can be closed at the agent. Elsewhere `session.close` only cancels their work. */
  readonly close: boolean;
  /** `deleteSession` works. */
  readonly delete: boolean;
  /** `forkSession` works. Needs the unstable feature "fork". */
  readonly fork: boolean;
  /** `archiveSession` and `unarchiveSession` work, and lists can be filtered. Needs the unstable feature "archive". */
  readonly archive: boolean;
  /** `sessionStatus` works. Needs the unstable feature "session_status". */
  readonly sessionStatus: boolean;
  /** `setSessionTitle` and `session.setTitle` work. Needs the unstable feature "session_title". */
  readonly setTitle: boolean;
  /** `session.steer` works. Always true on v2. */
  readonly steer: boolean;
  /** Sessions may have directories beside the working directory. */
  readonly additionalDirectories: boolean;
  /** Sessions may have a system prompt that is added to the agent's own. Needs the unstable feature "system_prompt". */
  readonly systemPrompt: boolean;
  /** A system prompt may take the place of the agent's own. Needs the unstable feature "system_prompt". */
  readonly systemPromptOverride: boolean;
  /** `logout` works. */
  readonly logout: boolean;
  /** `authStatus` works. Needs the unstable feature "auth_status". */
  readonly authStatus: boolean;
  /** `listProviders`, `setProvider` and `disableProvider` work. Needs the unstable feature "providers". */
  readonly providers: boolean;
  /** Custom data of the agent's capabilities. */
  readonly _meta?: Meta;
  /** Custom data of parts of the capabilities, by their path, such as "session.prompt" or "session.mcp". */
  readonly partsMeta?: PartsMeta;
}

/** A request that means the same in every version. Agents, clients and relays follow its row, and need no code for it. */
export interface PassThroughRow {
  /** The capability that the agent must have. */
  readonly needs: Exclude<keyof AgentCapabilities, "_meta" | "partsMeta">;
  /** Describes the capability for an error: this agent does not … */
  readonly offers: string;
  /** The handler in `session` of the agent's definition. It is called before the record changes, and may refuse. */
  readonly handler?: "onArchive" | "onUnarchive" | "onStatus" | "onSetTitle";
  /** The fields of the params that the handler gets between the session and the request. */
  readonly handlerTakes?: readonly string[];
  /** The change of the stored session. `said` is the result of the handler. */
  readonly patch?: (params: Readonly<Record<string, unknown>>, said: unknown) => SessionPatch;
  /** The fields of the answer. An agent that keeps sessions takes them from the change of the stored session. */
  readonly answers?: readonly string[];
  /** What a client makes of the answer. Default: the fields that are listed, and custom data. */
  readonly fromWire?: (answer: object) => object;
  /** The fields of the answer that version 1 does not have, with their names for people. */
  readonly missingInV1?: Readonly<Record<string, string>>;
  /** Only for a method that the schemas do not have. */
  readonly wire?: MethodRow;
}

/** One side's part of the handshake. */
export interface Introduction<Features> {
  readonly info: Implementation | undefined;
  readonly capabilities: Features;
  /** Custom data of the message itself. */
  readonly _meta?: Meta | undefined;
}

export interface AgentIntroduction extends Introduction<AgentCapabilities> {
  readonly authMethods: readonly AuthMethod[];
  /** The options that sessions begin with, for clients that want to know them before. */
  readonly sessionOptions?: readonly SessionConfigOption[];
}

/** The complete environment of one activation of a session; nothing is inherited from an earlier one. */
export interface Activation {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly mcpServers: readonly McpServer[];
  readonly systemPrompt?: SystemPrompt;
  /** The request names no place: that of the stored session counts, and `cwd` means nothing. */
  readonly hasStoredPlace?: boolean;
  readonly _meta?: Meta;
}

/**
 * What a user logs in with, by name.
 *
 * @inline
 */
export type Credentials = Readonly<Record<string, unknown>>;

export type AgentOp =
  | {
      readonly op: "login";
      readonly methodId: string;
      readonly credentials?: Credentials;
      readonly _meta?: Meta;
    }
  | { readonly op: "logout"; readonly _meta?: Meta }
  | { readonly op: "new"; readonly activation: Activation }
  | {
      readonly op: "activate";
      readonly sessionId: string;
      readonly activation: Activation;
      /** Whether the history is sent before the answer. */
      readonly replay: boolean;
    }
  | { readonly op: "fork"; readonly sessionId: string; readonly activation: Activation }
  | {
      readonly op: "list";
      readonly cwd?: string;
      readonly cursor?: string;
      readonly archived?: string;
      readonly _meta?: Meta;
    }
  | { readonly op: "close"; readonly sessionId: string; readonly _meta?: Meta }
  | {
      readonly op: "pass";
      readonly method: string;
      readonly row: PassThroughRow;
      readonly params: object;
      readonly sessionId?: string;
      readonly _meta?: Meta;
    }
  | {
      readonly op: "prompt";
      readonly sessionId: string;
      readonly prompt: readonly ContentBlock[];
      readonly _meta?: Meta;
    }
  | {
      readonly op: "set_option";
      readonly sessionId: string;
      readonly configId: string;
      readonly value: JsonValue;
      /** Where the request has the value. Default `/value`. */
      readonly valuePath?: string;
      readonly _meta?: Meta;
    }
  | {
      readonly op: "cancel_part";
      readonly sessionId: string;
      readonly part: "tool_call" | "terminal";
      readonly id: string;
      readonly _meta?: Meta;
    };

export type PromptOp = Extract<AgentOp, { op: "prompt" }>;
export type SessionOp = Exclude<AgentOp, PromptOp>;

/** One session in the list of an agent. */
export interface SessionInfo {
  /** The id, for `loadSession` and `resumeSession`. */
  readonly sessionId: string;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** Further directories of the session: absolute paths. */
  readonly additionalDirectories: readonly string[];
  /** The title, where the agent gave it one. */
  readonly title?: string;
  /** Whether it is archived. Absent if the agent has no archive. Needs the unstable feature "archive". */
  readonly archived?: boolean;
  /** When it was last changed, such as "2026-03-01T12:00:00Z" (RFC 3339). */
  readonly updatedAt?: string;
  /** Custom data of the session in the list. */
  readonly _meta?: Meta;
}

/** A page of sessions, of a store or of another agent. */
export interface ListedSessions {
  readonly sessions: readonly (Omit<SessionInfo, "updatedAt"> & {
    readonly updatedAt?: string | number;
  })[];
  readonly nextCursor?: string;
  readonly _meta?: Meta;
}

/** The session as the answer that opens it describes it. */
export interface SessionSetup {
  readonly sessionId: string;
  readonly configOptions: readonly SessionConfigOption[];
  readonly availableCommands: readonly AvailableCommand[];
  readonly _meta?: Meta;
}
