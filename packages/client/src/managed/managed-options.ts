// Options of a managed agent that are not public: a policy, a recorder, the setup of a session.

import type { ClientPolicy, Entry, ForkOptions, SessionOptions } from "@parley/acp";
import type { SessionSetup } from "../agents/agent-spec.ts";
import type { ReachOptions } from "../launch/launch-agent.ts";
import type { ConnectAgentOptions } from "./connect-options.ts";

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
  /** The last entry in the history that it has of that session. Default: all. */
  readonly atSeq?: number;
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
export interface ManageAgentOptions extends Omit<ConnectAgentOptions, "history" | "agents" | "policy"> {
  /** A function is called once, while the first process of the agent starts. */
  readonly policy?: ClientPolicy | (() => Promise<Required<ClientPolicy>>) | undefined;
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
  /** It is recorded as a copy of the beginning of another session, up to this entry in the history. */
  readonly copies?: { readonly sessionId: string; readonly atSeq: number | undefined } | undefined;
};

/** The options of a fork: it may end before a message of the user. */
export type ManagedForkOptions = ManagedSessionOptions & Pick<ForkOptions, "before">;
