// An agent that stays and a session that stays, as their users see them.

import type {
  AvailableCommand,
  ConnectedAgent,
  Entry,
  Meta,
  SessionConfigOption,
  SessionList,
  Update,
} from "@parley/acp";
import type { AgentEntry } from "../agents/agent-entry.ts";
import type { AgentSessions, AgentSessionsQuery } from "./list-all.ts";
import type { LivePlace, PromptContent } from "./live-options.ts";
import type { LivePrompt } from "./live-prompt.ts";
import type { SetupProblem } from "./session-setup.ts";

/** An agent that is started again when it dies, that people log in to without leaving, and that has many sessions. */
export interface LiveAgent {
  readonly entry: AgentEntry;
  /** The agent as it runs now. Throws while it does not. */
  readonly connected: ConnectedAgent;
  /** Of the program, where it is one of this machine. */
  readonly pid: number | undefined;
  readonly sessions: readonly LiveSession[];
  /** A new session. */
  open(place: LivePlace): Promise<LiveSession>;
  /** An old session: with its history where the agent can, which arrives as updates before this resolves. */
  reopen(sessionId: string, place: LivePlace, replay?: "history" | "silent"): Promise<LiveSession>;
  /** One page of the sessions that the agent has. */
  list(query?: { readonly cwd?: string; readonly cursor?: string }): Promise<SessionList>;
  /** The sessions that the agent has, page by page, up to `limit` (1,000 unless you say otherwise). */
  listAll(query?: AgentSessionsQuery): Promise<AgentSessions>;
  /** Logs in by one of the agent's methods; without one, the user chooses. */
  login(methodId?: string): Promise<void>;
  logout(): Promise<void>;
  /** Whether nothing is read of the agent. */
  readonly isPaused: boolean;
  /**
   * Reads nothing more of the agent until `resume`: it has to wait, answers included. For whoever cannot take what it says
   * as fast as it says it.
   */
  pause(): void;
  resume(): void;
  /** Ends an agent that has done its work: its input ends, and what it still says is heard. Then it is closed. */
  finish(): Promise<void>;
  /** Ends the agent and everything that it started. */
  close(): Promise<void>;
}

/** A session that outlives its agent's process: prompts wait for one another here. */
export interface LiveSession {
  /** The agent's name for it; another one when a new session had to take its place. */
  readonly sessionId: string;
  readonly cwd: string;
  readonly options: readonly SessionConfigOption[];
  readonly commands: readonly AvailableCommand[];
  readonly state: string;
  /** `_meta` of the answer that opened it. */
  readonly meta: Meta | undefined;
  /** What of the setup could not be had. After a restart the events tell it too. */
  readonly setupProblems: readonly SetupProblem[];
  /** The prompts that wait, oldest first; each can be cancelled by itself. */
  readonly waiting: readonly LivePrompt[];
  /** Sees every update from now on; `onUpdate` of the place sees those before too. */
  onUpdate(listener: (update: Update) => void): () => void;
  /** The same as records; `seq` counts on when the agent is started anew. */
  onEntry(listener: (entry: Entry) => void): () => void;
  /** Sent when all earlier ones have ended, whatever the agent would do with two at once. */
  prompt(content: PromptContent, options?: { readonly meta?: Meta }): LivePrompt;
  /** Ends what the agent is doing, and withdraws what waits. */
  cancel(): void;
  setOption(configId: string, value: string | boolean): Promise<void>;
  setMode(mode: string): Promise<void>;
  close(): Promise<void>;
}
