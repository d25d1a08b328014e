// The interface that a managed agent offers to its sessions.

import type { AgentEntry } from "../agents/agent-entry.ts";
import type { LaunchedAgent } from "../launch/launch-agent.ts";
import type { LiveOptions } from "./live-options.ts";
import type { LiveSession } from "./live-session.ts";

export interface SessionHost {
  readonly entry: AgentEntry;
  readonly options: LiveOptions;
  readonly isPaused: boolean;
  /** The running agent; starts it when it does not run. */
  running(): Promise<LaunchedAgent>;
  /** Runs the work, and once more after a login when the agent wants one. */
  authenticated<Result>(work: (launched: LaunchedAgent) => Promise<Result>): Promise<Result>;
  /** Stops the agent; the next request starts it again. */
  restart(reason: string): Promise<void>;
  login(): Promise<void>;
  forget(session: LiveSession): void;
  /** Counts an entry that came from the agent. */
  noteActivity(): void;
}
