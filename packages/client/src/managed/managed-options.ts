// The options and events of a managed agent.

import type {
  ClientDefinition,
  ClientPolicy,
  ClientSession,
  ElicitationResponse,
  Entry,
  Files,
  RequestContext,
  SessionOptions,
  SessionUpdate,
  Terminals,
} from "@parley/acp";
import type { SessionSetup } from "../agents/agent-spec.ts";
import type { History } from "../history/history.ts";
import type { KnownAgents } from "../launch/agent-target.ts";
import type { LaunchEvent } from "../launch/launch-agent.ts";
import type { Unread } from "../launch/watched-transport.ts";
import type { Asker, ElicitationQuestion } from "./asker.ts";
import type { Problem } from "./problem.ts";

/** An event to show to the user or to log. New kinds may be added: a `switch` needs a `default:`. */
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

/**
 * The definition that `client()` takes, without `auth`, and settings for starting, watching and recording the agent. `name`
 * and `version` are those of your app.
 */
export interface ConnectAgentOptions extends Omit<ClientDefinition, "auth" | "elicit" | "policy"> {
  /**
   * Decides what the agent may do. The policy of `permissionPolicy()` in `@parley/client/policy` provides guarded files and
   * terminals; with any other policy, `files` and `terminals` are served as in `client()`.
   */
  readonly policy?: ClientPolicy;
  /** Records all sessions. It stays open when the agent is closed. */
  readonly history?: History;
  /** Agents that can be named in addition to the ready ones, such as those of the config file. */
  readonly agents?: KnownAgents;
  /** Shows a form, or an address to visit. Without it, agents are told that the client supports neither. */
  elicit?(
    question: ElicitationQuestion,
    context: RequestContext,
  ): Promise<ElicitationResponse> | ElicitationResponse;
  /** Asks the user during logins and recoveries. Default: every answer is no. */
  readonly asker?: Asker;
  /** The absolute working directory of the agent's process. Default: that of this process. */
  readonly cwd?: string;
  /** Variables for the agent's environment, such as credentials. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborts the start of the agent. It has no effect afterwards. */
  readonly signal?: AbortSignal;
  /** Called for each event: start, crash, restart, login, retry, warning. */
  readonly onEvent?: (event: ManagedAgentEvent) => void;
  /**
   * How long opening, loading or resuming a session may take, in milliseconds; the second attempt has twice as long.
   * Default 60,000.
   */
  readonly setupTimeoutMs?: number;
  /** How long a login by the agent may take, browser included, in milliseconds. Default 300,000. */
  readonly loginTimeoutMs?: number;
  /**
   * How often a crashed agent is restarted within five minutes: at once, then after `backoffMs`, twice that and so on.
   * Default 5.
   */
  readonly maxRestarts?: number;
  /** How long an agent may work on after a cancel before it is stopped, in milliseconds. Default 5,000. */
  readonly cancelTimeoutMs?: number;
  /** How long an agent may send nothing during a prompt before the event `quiet`, in milliseconds. Default 30,000. */
  readonly quietMs?: number;
  /** How often a prompt is sent again when the agent is rate limited. Default 4. */
  readonly maxRetries?: number;
  /**
   * The first pause if the agent does not name one, in milliseconds; each further one is twice as long. Default 1,000.
   */
  readonly backoffMs?: number;
}

/** Decides what an agent may do, and does it. */
export interface ManagedGate {
  readonly permission: NonNullable<ClientDefinition["requestPermission"]>;
  /** Files and terminals of a session; called once per session. Without it neither is offered. */
  services?(session: ClientSession): { readonly files: Files; readonly terminals: Terminals };
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
export interface ManageAgentOptions extends Omit<ConnectAgentOptions, "policy" | "history" | "agents"> {
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
