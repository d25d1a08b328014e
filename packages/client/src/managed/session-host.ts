// Between a session and the agent that it belongs to; nobody else calls any of it.

import type { AgentEntry } from "../agents/agent-entry.ts";
import type { LaunchedAgent } from "../launch/launch-agent.ts";
import type { LiveSession } from "./live-agent.ts";
import type { LiveOptions } from "./live-options.ts";

/** What a session needs of the agent that it belongs to. */
export interface SessionHost {
  readonly entry: AgentEntry;
  readonly options: LiveOptions;
  readonly isPaused: boolean;
  /** The agent as it runs, started (again) where it does not. */
  ready(): Promise<LaunchedAgent>;
  /** Does something, and once more after a login where the agent wants one. */
  authenticated<Result>(work: (launched: LaunchedAgent) => Promise<Result>): Promise<Result>;
  /** Ends the agent; the next who needs it starts it anew. */
  respawn(reason: string): Promise<void>;
  login(): Promise<void>;
  forget(session: LiveSession): void;
  /** Something came from it. */
  heard(): void;
}
