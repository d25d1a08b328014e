// The interface of a managed agent.

import type { ClientConnection, ClientSession, SessionOptions } from "@parley/acp";
import type { AgentSpec } from "../agents/agent-spec.ts";

/**
 * A connection to an agent that is restarted after a crash. Its sessions and prompts go on then. `info`, `capabilities`,
 * `authMethods`, `edition` and `counters` are those of the process that runs, or ran last. `closed` resolves when the agent
 * is closed for good. An agent of a dialect that has one session per connection, as `scoped`, gets a further process for each further session that is open at once; all
 * members but `sessions` are about the first one. It starts processes itself, so it has no snapshot.
 */
export interface ManagedAgent extends Omit<ClientConnection, "snapshot" | "pending"> {
  /** How the agent is started or reached. */
  readonly spec: AgentSpec;
  /** The process id of an agent on this machine, while it runs. */
  readonly pid: number | undefined;
  /** The sessions that are open here. */
  readonly sessions: readonly ClientSession[];
  /** Loads a session with its history; an agent that cannot load sessions resumes it without the history. */
  loadSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  /** Resumes a session without its history; an agent that cannot resume sessions loads it, and the history is dropped. */
  resumeSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  /** Logs in by this method; without one, `asker.chooseLogin` chooses. */
  login(
    methodId?: string,
    options?: Parameters<ClientConnection["login"]>[1],
  ): ReturnType<ClientConnection["login"]>;
  /** Whether `pause` was called, without `resume` since. */
  readonly isPaused: boolean;
  /**
   * Stops reading from the agent until `resume`, answers included, so that it has to wait. For a caller that is slower
   * than the agent.
   */
  pause(): void;
  /** Reads from the agent again. */
  resume(): void;
  /** Ends the agent and all processes that it started. */
  close(reason?: string): Promise<void>;
}
