// All conversations of one process, and what opens them.

import type { Conversation, ConversationEvent as SessionEvent } from "@parley/client/conversation";

/** Everything that the user does with agents in one process. */
export interface Conversations {
  /** The session that is shown. */
  readonly current: Conversation;
  /** The sessions that are open here, oldest first. */
  readonly sessions: readonly Conversation[];
  /** The agents that can be started, those that are installed first. */
  agents(): Promise<readonly AgentChoice[]>;
  /** The sessions of the history and of agents that have listed theirs, newest first. */
  find(query: string, signal: AbortSignal): Promise<readonly FoundSession[]>;
  /**
   * Starts the installed agents that do not run, asks each for its sessions and ends it: `find` knows them from then on.
   * Returns why agents have none, one sentence each.
   */
  askOthers(): Promise<readonly string[]>;
  /**
   * Opens a session and shows it. It can be written to at once; its agent starts meanwhile. One that cannot be opened is
   * closed: the session before is shown again, with the reason and with what was written.
   */
  open(target: SessionTarget): Conversation;
  show(session: Conversation): void;
  /** The transcript of a session as Markdown, HTML or JSON, without opening it. */
  exported(target: SessionTarget, format: ExportFormat): Promise<string>;
  /** Files and folders (`src/`) of the workspace that match what was typed after `@`, best first. */
  findFiles(query: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Prompts that were sent from this folder, newest first; `query` selects those that contain it. */
  prompts(query?: string): Promise<readonly string[]>;
  onEvent(listener: (event: ConversationEvent) => void): () => void;
  /** Ends all agents. What was written and not sent is kept for the next start. */
  close(): Promise<void>;
}

export type ExportFormat = "markdown" | "html" | "json";

/** An event of a session, or another session is shown. */
export type ConversationEvent = (SessionEvent | { readonly kind: "shown" }) & {
  readonly session: Conversation;
};

/** An agent to choose. */
export interface AgentChoice {
  readonly name: string;
  readonly description: string;
  readonly isInstalled: boolean;
  readonly isDefault: boolean;
}

/** A session to open again. */
export interface FoundSession {
  readonly agent: string;
  readonly title: string;
  readonly cwd: string;
  /** In milliseconds since 1970. */
  readonly updatedAt: number | undefined;
  readonly state: "open" | "working" | "needs you" | "failed" | "kept";
  /** Whether a rewind has left it: another session went on in its place. */
  readonly isLeft?: boolean;
  /** The line that contains what was searched for. */
  readonly excerpt?: string;
  readonly target: SessionTarget;
}

/** Which session to open. */
export type SessionTarget =
  | { readonly kind: "new"; readonly agent?: string; readonly cwd?: string }
  /** One of the history, by its id or name. */
  | { readonly kind: "kept"; readonly id: string }
  /** One that the agent lists. */
  | { readonly kind: "listed"; readonly agent: string; readonly sessionId: string; readonly cwd: string }
  | { readonly kind: "fork"; readonly of: Conversation }
  /** A new one with the same agent, folder and options. */
  | { readonly kind: "like"; readonly of: Conversation }
  /** A copy of one of the history that somebody else uses. */
  | { readonly kind: "copy"; readonly id: string }
  /** One that is open here. */
  | { readonly kind: "live"; readonly session: Conversation };
