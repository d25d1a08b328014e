// What a managed agent takes of its caller beside the public options: a gate, a recorder, the setup of a session.

import type {
  ClientDefinition,
  ClientSession,
  Entry,
  SessionOptions,
  SessionUpdate,
  Terminals,
} from "@parley/acp";
import type { ClientFiles } from "@parley/acp/model";
import type { SessionSetup } from "../agents/agent-spec.ts";
import type { ReachOptions } from "../launch/launch-agent.ts";
import type { ConnectAgentOptions } from "./connect-options.ts";

/** Decides what an agent may do, and does it. */
export interface ManagedGate {
  readonly permission: NonNullable<ClientDefinition["requestPermission"]>;
  /** Files and terminals of a session; called once per session. Without it neither is offered. */
  services?(session: ClientSession): { readonly files: ClientFiles; readonly terminals: Terminals };
  /** Called before a tool of this client runs for a session. Rejects with RequestError "permission_denied". */
  tool?: ClientDefinition["permitTool"];
  /** Answers `_parley.dev/veto` (docs/policy.md). Without it agents are not asked to announce their effects. */
  veto?(session: ClientSession, params: unknown, signal: AbortSignal): Promise<object>;
  /** Called for each update, when the user cancels, and before a prompt is sent. */
  observe?(session: ClientSession, update: SessionUpdate): void;
  cancelled?(session: ClientSession): void;
  prompted?(session: ClientSession): void;
}

/** The facts of a session for a history. */
export interface RecordedSession {
  readonly agent: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly how: "new" | "loaded" | "resumed";
  /** The id of the session that it replaces. */
  readonly replaces?: string;
  /** The id of the session of which it is a copy. */
  readonly forks?: string;
  /** The conversation so far of a session that was loaded. It is recorded if the history does not have the session. */
  readonly replayed?: readonly Entry[];
}

/** Records sessions. */
export interface Recorder {
  begin(session: RecordedSession): void;
  entry(sessionId: string, entry: Entry): void;
  /** The session was closed or deleted. */
  ended?(sessionId: string): void;
  /** The agent has been closed. Resolves when everything is stored. */
  finish?(): Promise<void>;
}

/** The options of a managed agent whose policy and history are in the caller's hands. */
export interface ManageAgentOptions extends Omit<ConnectAgentOptions, "history" | "agents"> {
  /** In place of `requestPermission`, `files` and `terminals`. */
  readonly gate?: ManagedGate | undefined;
  readonly recorder?: Recorder | undefined;
  /** The environment from which the agent gets its variables. Default `process.env`. */
  readonly inherited?: Readonly<Record<string, string | undefined>> | undefined;
  /** Puts something in front of the agent, each time that it is started. */
  readonly front?: ReachOptions["front"];
  /** Kills the agent and all processes that it started, without a grace time. */
  readonly kill?: AbortSignal | undefined;
}

/** The options of a session, and what it begins with. */
export type ManagedSessionOptions = SessionOptions & {
  /** Default: that of the agent's spec. */
  readonly setup?: SessionSetup;
};
