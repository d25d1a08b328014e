// The options and events of a managed agent.

import type {
  ClientDefinition,
  ClientSession,
  ContentBlock,
  Entry,
  Files,
  SessionPlace,
  Terminals,
  Update,
} from "@parley/acp";
import type { LaunchEvent, LaunchOptions } from "../launch/launch-agent.ts";
import type { Unread } from "../launch/watched-input.ts";
import type { Asker } from "./asker.ts";
import type { Problem } from "./problem.ts";
import type { SessionSetup } from "./session-setup.ts";

/** Who decides about what an agent wants to do. */
export interface LiveGate {
  readonly permission: NonNullable<ClientDefinition["permission"]>;
  /** Files and terminals for one session; asked for once. Without it neither is offered. */
  services?(session: ClientSession): { readonly files: Files; readonly terminals: Terminals };
  /** Answers what an agent would do without asking (docs/policy.md). Without it agents are not told to ask. */
  veto?(session: ClientSession, params: unknown, signal: AbortSignal): Promise<object>;
  /** Is told what a session says, that the user has cancelled, and that a prompt is about to be sent. */
  observe?(session: ClientSession, update: Update): void;
  cancelled?(session: ClientSession): void;
  prompted?(session: ClientSession): void;
}

/** Where a session stands, for a history. */
export interface RecordedSession {
  readonly agent: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly how: "new" | "loaded" | "resumed";
  /** The session whose place it has taken. */
  readonly replaces?: string;
}

/** Keeps what happens. A history that is replayed is not told again. */
export interface Recorder {
  begin(session: RecordedSession): void;
  entry(sessionId: string, entry: Entry): void;
}

/** What happens around sessions, as far as the user wants to know. */
export type LiveEvent =
  | LaunchEvent
  | { readonly kind: "stderr"; readonly text: string }
  /** It wrote something to stdout that could not be read; once for each line. */
  | ({ readonly kind: "unread" } & Unread)
  | { readonly kind: "crashed"; readonly message: string; readonly stderr: string }
  | { readonly kind: "restarting"; readonly reason: string }
  /**
   * After a restart, or because the agent did not have the session any more; `new` means that it has forgotten what was
   * said before.
   */
  | {
      readonly kind: "continued";
      readonly sessionId: string;
      readonly how: "loaded" | "resumed" | "new";
      readonly after: "restart" | "loss";
    }
  /** It works on a prompt and has said nothing for so long: it may hang. */
  | { readonly kind: "quiet"; readonly ms: number }
  | { readonly kind: "login"; readonly method: string }
  | {
      readonly kind: "retrying";
      readonly problem: Problem;
      readonly delayMs: number;
      readonly attempt: number;
    }
  | { readonly kind: "warning"; readonly message: string };

export interface LiveOptions
  extends Omit<LaunchOptions, "definition" | "onProgress" | "onStderr" | "onUnread"> {
  /** Who we are, and anything else that `client()` takes; questions, files and terminals come from below. */
  readonly client: Omit<ClientDefinition, "permission" | "files" | "terminals" | "elicit" | "terminalAuth">;
  readonly gate?: LiveGate;
  readonly asker?: Asker;
  readonly recorder?: Recorder;
  readonly onEvent?: (event: LiveEvent) => void;
  /** How long opening, loading or resuming a session may take; the second time twice as long. Default 60,000 ms. */
  readonly setupTimeoutMs?: number;
  /** How long a login by the agent may take, browser and all. Default 300,000 ms. */
  readonly loginTimeoutMs?: number;
  /**
   * How often an agent that dies is started again within five minutes: at once, and then after pauses of `backoffMs`,
   * twice that and so on. Default 5.
   */
  readonly maxRestarts?: number;
  /** How long an agent may take to end what was cancelled, before it is ended itself. Default 5,000 ms. */
  readonly cancelTimeoutMs?: number;
  /** After how long without a word in the middle of its work the user is told. Default 30,000 ms. */
  readonly quietMs?: number;
  /** How often a prompt is sent again to an agent that wants a pause. Default 4. */
  readonly maxRetries?: number;
  /** The first pause where the agent names none; each is twice the one before. Default 1,000 ms. */
  readonly backoffMs?: number;
}

/** Where a session lives, and how it begins. Listeners that are given here miss nothing. */
export interface LivePlace extends SessionPlace {
  readonly setup?: SessionSetup;
}

export type PromptContent = string | readonly ContentBlock[];
