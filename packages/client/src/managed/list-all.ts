// Lists all sessions of an agent, page by page.

import type { SessionList } from "@parley/acp";
import { optional } from "@parley/acp/internal";

export type AgentSession = SessionList["sessions"][number];

export interface AgentSessionsQuery {
  /** Only sessions of this directory. */
  readonly cwd?: string;
  /** Default 1,000. */
  readonly limit?: number;
}

export interface AgentSessions {
  readonly sessions: readonly AgentSession[];
  /** Whether these are all sessions of the agent. */
  readonly isComplete: boolean;
}

/** For an agent that sends empty pages without end. */
const maxPages = 1_000;

export async function listAll(
  page: (query: { readonly cwd?: string; readonly cursor?: string }) => Promise<SessionList>,
  { cwd, limit = 1_000 }: AgentSessionsQuery,
): Promise<AgentSessions> {
  const found = new Map<string, AgentSession>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const { sessions, nextCursor } = await page({
      ...optional({ cwd, cursor }),
    });
    for (const session of sessions) {
      // some agents ignore the directory
      if (cwd !== undefined && session.cwd !== cwd) continue;
      if (found.size === limit && !found.has(session.sessionId)) {
        return { sessions: [...found.values()], isComplete: false };
      }
      found.set(session.sessionId, session);
    }
    // a repeated cursor would never end
    cursor = nextCursor === undefined || seen.has(nextCursor) ? undefined : nextCursor;
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined && seen.size < maxPages);
  return { sessions: [...found.values()], isComplete: cursor === undefined };
}
