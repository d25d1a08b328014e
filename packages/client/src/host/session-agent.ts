// What a session host needs of the agent that runs its session, which may run others too.

import type { Entry } from "@parley/acp";
import type { AgentFacts } from "../conversation/session-link.ts";
import type { ManagedConnection } from "../managed/manage-agent.ts";
import type { ManagedSession } from "../managed/managed-session.ts";
import type { SessionHost } from "./session-host.ts";

export interface SessionAgent {
  /** As far as they are known. */
  readonly facts: AgentFacts;
  /** How it or its commands are confined. */
  readonly sandbox: string;
  /** Undefined before it has started. */
  readonly connection: ManagedConnection | undefined;
  /** How long after its answer it may send the end of its text, in milliseconds. */
  readonly lateMs: number;
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
  /** Its id in the history. Absent if it is not stored. */
  readonly historyId?: string | undefined;
  /** Stores an entry of the host. */
  record?(entry: Entry): void;
  /** Resolves when everything so far is stored. */
  stored?(): Promise<void>;
}
