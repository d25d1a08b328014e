// What a session and a turn need of their connection, and no more.

import type { AgentEdition } from "../../edition/agent-edition.ts";
import type { ClientFeatures } from "../../edition/agent-ops.ts";
import type { Log } from "../../jsonrpc/log.ts";
import type { PermissionAsk } from "../../model/ask.ts";
import type { Implementation, Meta } from "../../model/content.ts";
import type { Update } from "../../model/update.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { AgentSession } from "./agent-session.ts";
import type { PromptTicket } from "./prompt-queue.ts";

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the answer to something cancelled is waited for. Default 10,000. */
  readonly cancelGraceMs?: number;
  readonly timeoutMs?: number | undefined;
}

export interface AgentLink {
  readonly definition: AgentDefinition;
  readonly edition: AgentEdition;
  readonly features: ClientFeatures;
  readonly clientInfo: Implementation | undefined;
  readonly clientMeta: Meta | undefined;
  readonly log: Log;
  /** Throws a TypeError for what the model does not have, whichever version the client speaks (G7). */
  checkSaid(update: Update): void;
  checkAsk(ask: PermissionAsk): void;
  sendUpdate(sessionId: string, update: object): Promise<void> | undefined;
  /** The params of an update, or a TypeError; `sendChecked` sends them later. */
  checkUpdate(sessionId: string, update: object): object;
  sendChecked(params: object): Promise<void> | undefined;
  /** A request to the client, validated both ways. */
  ask(method: string, params: unknown, options?: AskOptions): Promise<unknown>;
  /** A notification to the client, validated. */
  tell(method: string, params: unknown): void;
  askExtension(method: string, params: unknown, signal?: AbortSignal): Promise<unknown>;
  /** URL elicitations of this client whose flow is not over (A98). */
  readonly elicitations: Set<string>;
  /** A prompt that will never be part of the conversation. */
  withdrawn(ticket: PromptTicket): void;
  /** Whether the client has been told of the session, so that changes must be announced. */
  isAnnounced(session: AgentSession): boolean;
  saveOptions(session: AgentSession): void;
  saveTitle(session: AgentSession, title: string): void;
  /** Something happened in it: lists show it first. */
  saveActivity(session: AgentSession): void;
  /** Whether the client may be told what a turn cost: unstable in both versions. */
  readonly reportsUsage: boolean;
}
