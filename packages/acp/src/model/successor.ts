// The agent behind an agent in a chain.

import type { ElicitationRequest, ElicitationResponse, PermissionOutcome, PermissionRequest } from "./ask.ts";
import type { ContentBlock, McpServer } from "./content.ts";
import type { PromptResult, SessionUpdate } from "./update.ts";

/** What the agent behind sends while it works on a prompt. */
export interface SuccessorFront {
  /** Aborts when the prompt is cancelled. */
  readonly signal: AbortSignal;
  /** The agent behind sent an update. */
  update(update: SessionUpdate): void;
  /** The agent behind asks for permission. */
  permission(ask: PermissionRequest): Promise<PermissionOutcome>;
  /** The agent behind asks for input. */
  elicit(ask: ElicitationRequest): Promise<ElicitationResponse>;
}

/** A session for which the agent behind has one too. */
export interface SuccessorSession {
  /** The id of the session at the agent in front. */
  readonly sessionId: string;
  /** The working directory. */
  readonly cwd: string;
  /** The directories that it may work in. The first is `cwd`. */
  readonly roots: readonly string[];
  /** The MCP servers of the session. */
  readonly mcpServers: readonly McpServer[];
}

/** Reaches the agent behind. */
export interface Successor {
  /** Prompts the agent behind in the session that belongs to this one, which is opened first. Rejects when it cannot. */
  prompt(
    session: SuccessorSession,
    content: readonly ContentBlock[],
    front: SuccessorFront,
  ): Promise<PromptResult>;
}
