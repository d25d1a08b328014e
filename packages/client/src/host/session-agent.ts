// What a session host is made of: the agent, which may run other sessions too, and what opens the session there.

import type { Entry, SessionUpdate } from "@parley/acp";
import type {
  AgentFacts,
  RewindOutcome,
  SessionProblem,
  SessionReference,
} from "../conversation/session-link.ts";
import type { ManagedConnection } from "../managed/manage-agent.ts";
import type { ManagedSession } from "../managed/managed-session.ts";
import type { LateUpdates } from "./late-updates.ts";
import type { SessionHost } from "./session-host.ts";
import type { TurnChanges } from "./turn-changes.ts";

export interface SessionAgent {
  /** As far as they are known. */
  readonly facts: AgentFacts;
  /** How it or its commands are confined. */
  readonly sandbox: string;
  /** Undefined before it has started. */
  readonly connection: ManagedConnection | undefined;
  /** How long after its answer it may send the end of its text, in milliseconds. */
  readonly lateMs: number;
  /** What notices the end of its text. */
  lateUpdates(): LateUpdates;
  /** What the user said beside a no, for an agent that has no place for it in the answer. Given once. */
  takeUnsaid(sessionId: string): string | undefined;
  /** Whether what it says waits to be shown: it is not read meanwhile. */
  hold(isBehind: boolean): void;
  /** Something was read from it. */
  heard(): void;
  /** The session has ended. The agent ends with its last one. */
  leave(session: SessionHost): Promise<void>;
}

/** What is known of a session before its agent has started. */
export interface KnownSession {
  readonly agent: SessionAgent;
  readonly cwd: string;
  readonly title?: string | undefined;
  /** Its id in the history. */
  readonly historyId?: string | undefined;
  /** Whether it has turns from before this process. */
  readonly isContinued: boolean;
}

/** A session that its agent has opened. */
export interface OpenedSession {
  readonly agent: SessionAgent;
  readonly session: ManagedSession;
  /** What stores it, with its id in the history. Absent if it is not stored. */
  readonly recording?: StoredSession | undefined;
  /** Of a branch: whether the agent remembers the conversation before it. */
  readonly memory?: RewindOutcome["memory"] | undefined;
}

/** A session that is stored. */
export interface StoredSession {
  /** Its id in the history. */
  readonly id: string | undefined;
  /** Stores an entry of the host. */
  entry(entry: Entry): void;
  /** Resolves when everything so far is stored. */
  stored(): Promise<void>;
}

/** Where a branch begins. */
export interface BranchPoint {
  /** The message of the user that is not in it any more. */
  readonly messageId: string;
  /** The last entry in the history that it has. */
  readonly atSeq: number;
  /** The folder. */
  readonly cwd: string;
  /** The title. Undefined if nothing was said before. */
  readonly title: string | undefined;
}

/** The sessions among which a rewind goes. */
export interface SessionBranches {
  /** The entries of a session of the history, oldest first. */
  entries(historyId: string): AsyncIterable<Entry>;
  /** Opens a session that begins with what this one had before a message, as `openBranch` does. Rejects with why it is not open. */
  open(session: SessionHost, point: BranchPoint): Promise<SessionHost>;
  /** A session that was left: open already, or opened now. */
  reopen(session: SessionReference): Promise<SessionHost>;
  /** Notes in the history which session went on in place of this one. */
  left(historyId: string, to: string | undefined): Promise<void>;
}

/** What a session host is made of. */
export interface SessionHostOptions {
  /** The folder, until the session is found. */
  readonly cwd: string;
  /** The agent, until it is found. */
  readonly agent: AgentFacts;
  /** The title, until the session has one. */
  readonly title?: string | undefined;
  /** Whether the title is given to the session when it is open: that of a copy. */
  readonly setsTitle?: boolean | undefined;
  /** Whether the session is known under the id that it is found with. Not that of the original of a copy. */
  readonly keepsId?: boolean | undefined;
  /**
   * Finds the session, starts its agent and opens it there. `found` is called when agent and session are known. Past entries
   * go to `session.past`, later ones to `session.heard`. Rejects with an error that a user can read.
   */
  open(session: SessionHost, found: (session: KnownSession) => void): Promise<OpenedSession>;
  /** Finds out what a turn changed. Called once, when the folder of the session is known. */
  changes?(cwd: string, isContinued: boolean): TurnChanges | undefined;
  /** Calls back with the text without known secrets, in the order of the calls. */
  redacted?(text: string, use: (text: string) => void): void;
  /** Absent: the session cannot be rewound. */
  readonly branches?: SessionBranches | undefined;
  /** What is told about an error that ends the agent or keeps it from starting. */
  problem(error: unknown): Promise<SessionProblem>;
  /** Whether the agent is not told to close the session: a remote one keeps it for the next client. */
  readonly keepsOpen?: boolean | undefined;
  /** Hears why a prompt has no answer. Default: the session says it. */
  unanswered?(error: unknown): void;
  /**
   * Whether what the agent says was asked for by somebody else. It is left out then, and such work is no turn. `last` is the last
   * prompt from here: `isBehind` while the agent still does other work. Default: all that the agent does is shown.
   */
  isOthers?(
    update: SessionUpdate,
    last: { readonly isSent: boolean; readonly isBehind: boolean } | undefined,
  ): boolean;
  /** The status has changed. */
  changed?(session: SessionHost): void;
  /** How many characters of entries are kept for conversations that begin later or were cut. Default 8 Mi. */
  readonly keptChars?: number | undefined;
}
