// The options, events, sessions and prompts of a managed agent.

import type {
  ClientDefinition,
  ClientSession,
  ContentBlock,
  Entry,
  Files,
  Prompt,
  SessionOptions,
  SessionUpdate,
  Terminals,
} from "@parley/acp";
import type { Meta } from "@parley/acp/model";
import type { LaunchEvent, LaunchOptions } from "../launch/launch-agent.ts";
import type { Unread } from "../launch/watched-transport.ts";
import type { Asker } from "./asker.ts";
import type { Problem } from "./problem.ts";
import type { SessionSetup, SetupProblem } from "./session-setup.ts";

/** Decides what an agent may do. */
export interface LiveGate {
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
}

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

export interface ConnectAgentOptions
  extends Omit<LaunchOptions, "definition" | "onProgress" | "onStderr" | "onUnread"> {
  /** The definition for `client()`, without questions, files and terminals, which come from `gate` and `asker`. */
  readonly client: Omit<ClientDefinition, "requestPermission" | "files" | "terminals" | "elicit" | "auth">;
  readonly gate?: LiveGate;
  readonly asker?: Asker;
  readonly recorder?: Recorder;
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

/** The directories and setup of a session. Listeners that are given here miss nothing. */
export interface ManagedSessionOptions extends SessionOptions {
  readonly setup?: SessionSetup;
}

export type PromptContent = string | readonly ContentBlock[];

/** A session that survives a crash of its agent. Prompts wait for one another here. */
export interface LiveSession extends ClientSession {
  /** The problems of the setup. After a restart they are reported as events too. */
  readonly setupProblems: readonly SetupProblem[];
  /** The prompts that wait, oldest first; each can be cancelled by itself. */
  readonly waiting: readonly LivePrompt[];
  /** Sent when all earlier ones have ended, in every version. */
  prompt(content: PromptContent, options?: { readonly _meta?: Meta }): LivePrompt;
}

/**
 * A prompt of a managed session. It may be sent more than once: `outcome` is the result of the last attempt, and rejects
 * when the agent crashed and could not be restarted, or wants a login. `accepted` is the message of the first attempt
 * that the agent accepted.
 */
export interface LivePrompt extends Prompt {
  readonly content: PromptContent;
  readonly isSent: boolean;
}
