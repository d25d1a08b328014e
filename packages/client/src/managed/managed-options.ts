// The options and events of a managed agent.

import type {
  ClientDefinition,
  ClientPolicy,
  ClientSession,
  ElicitationResponse,
  Entry,
  RequestContext,
  SessionOptions,
  SessionUpdate,
  Terminals,
} from "@parley/acp";
import type { ClientFiles } from "@parley/acp/model";
import type { SessionSetup } from "../agents/agent-spec.ts";
import type { History } from "../history/history.ts";
import type { KnownAgents } from "../launch/agent-target.ts";
import type { LaunchEvent } from "../launch/launch-agent.ts";
import type { Unread } from "../launch/watched-transport.ts";
import type { Asker, ElicitationQuestion } from "./asker.ts";
import type { Problem } from "./problem.ts";

/** Events of an agent and its sessions for the user. */
export type ManagedAgentEvent =
  | LaunchEvent
  | { readonly kind: "stderr"; readonly text: string }
  /** The agent wrote a line to stdout that is not a message. */
  | ({ readonly kind: "unread" } & Unread)
  | { readonly kind: "crashed"; readonly message: string; readonly stderr: string }
  | { readonly kind: "restarting"; readonly reason: string }
  /**
   * The session was reopened after a restart, or because the agent had lost it. `new`: the agent has forgotten the
   * conversation.
   */
  | {
      readonly kind: "continued";
      readonly sessionId: string;
      readonly how: "loaded" | "resumed" | "new";
      readonly after: "restart" | "loss";
    }
  /** The agent works on a prompt and has sent nothing for so long: it may hang. */
  | { readonly kind: "quiet"; readonly ms: number }
  | { readonly kind: "login"; readonly method: string }
  | {
      readonly kind: "retrying";
      readonly problem: Problem;
      readonly delayMs: number;
      readonly attempt: number;
    }
  | { readonly kind: "warning"; readonly message: string };

/** The definition for `client()`, without what a managed agent decides by itself. */
type ManagedDefinition = Omit<ClientDefinition, "auth" | "elicit" | "policy">;

interface ManagedSettings extends ManagedDefinition {
  /** Shows a form, or an address to visit with its host. Without it the client offers neither. */
  elicit?(
    question: ElicitationQuestion,
    context: RequestContext,
  ): Promise<ElicitationResponse> | ElicitationResponse;
  /** Answers the questions of logins and recoveries. Without it, or without one of its methods, the answer is no. */
  readonly asker?: Asker;
  /** The working directory of the agent's process. Absolute. Default: ours. */
  readonly cwd?: string;
  /** Further variables for the agent, such as credentials. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborts the start of the agent. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ManagedAgentEvent) => void;
  /** The time to open, load or resume a session; the second attempt has twice as long. Default 60,000 ms. */
  readonly setupTimeoutMs?: number;
  /** The time for a login by the agent, browser included. Default 300,000 ms. */
  readonly loginTimeoutMs?: number;
  /**
   * How often a crashed agent is restarted within five minutes: at once, then after `backoffMs`, twice that and so on.
   * Default 5.
   */
  readonly maxRestarts?: number;
  /** The time for an agent to end its work after a cancel, before it is stopped. Default 5,000 ms. */
  readonly cancelTimeoutMs?: number;
  /** The silence during a prompt after which `quiet` is reported. Default 30,000 ms. */
  readonly quietMs?: number;
  /** How often a prompt is sent again to an agent that is rate limited. Default 4. */
  readonly maxRetries?: number;
  /** The first pause where the agent names none; each further one is twice as long. Default 1,000 ms. */
  readonly backoffMs?: number;
}

/** Everything that `client()` takes, and how the agent is started, watched and recorded. */
export interface ConnectAgentOptions extends ManagedSettings {
  /**
   * Decides what the agent may do. That of `permissionPolicy()` of `@parley/client/policy` brings guarded files and
   * terminals; with any other one, `files` and `terminals` are served as in `client()`.
   */
  readonly policy?: ClientPolicy;
  /** Records all sessions. It stays open when the agent is closed. */
  readonly history?: History;
  /** Agents that may be named beside the ready ones, such as those of the config file. */
  readonly agents?: KnownAgents;
}

/** Decides what an agent may do, and does it. */
export interface ManagedGate {
  readonly permission: NonNullable<ClientDefinition["requestPermission"]>;
  /** Files and terminals of a session; called once per session. Without it neither is offered. */
  services?(session: ClientSession): { readonly files: ClientFiles; readonly terminals: Terminals };
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
}

/** Records sessions. Replayed history is not recorded again. */
export interface Recorder {
  begin(session: RecordedSession): void;
  entry(sessionId: string, entry: Entry): void;
  /** The session was closed or deleted. */
  ended?(sessionId: string): void;
  /** The agent has been closed. Resolves when everything is stored. */
  finish?(): Promise<void>;
}

/** The options of a managed agent whose policy and history are in the caller's hands. */
export interface ManageAgentOptions extends ManagedSettings {
  /** In place of `requestPermission`, `files` and `terminals`. */
  readonly gate?: ManagedGate;
  readonly policy?: ClientPolicy;
  readonly recorder?: Recorder;
  /** The environment from which the agent gets its variables. Default `process.env`. */
  readonly inherited?: Readonly<Record<string, string | undefined>>;
  /** Kills the agent and all processes that it started, without a grace time. */
  readonly kill?: AbortSignal;
}

/** The options of a session, and what it begins with. */
export type ManagedSessionOptions = SessionOptions & {
  /** Default: that of the agent's spec. */
  readonly setup?: SessionSetup;
};
