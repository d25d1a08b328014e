// Lists all sessions of an agent, page by page.

import type { SessionList } from "@parley/acp";
import { optional } from "@parley/acp/internal";

export type AgentSession = SessionList["sessions"][number];

export interface AgentSessionsQuery {
  /** Only those of this directory. */
  readonly cwd?: string;
  /** Default 1,000. */
  readonly limit?: number;
}

export interface AgentSessions {
  readonly sessions: readonly AgentSession[];
  /** Whether the agent has named all that it has. */
  readonly isComplete: boolean;
}

/** An agent that hands out empty pages for ever is not asked for ever. */
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
      // some list everything, whatever they were asked
      if (cwd !== undefined && session.cwd !== cwd) continue;
      if (found.size === limit && !found.has(session.sessionId)) {
        return { sessions: [...found.values()], isComplete: false };
      }
      found.set(session.sessionId, session);
    }
    // one that comes again would go round in a circle
    cursor = nextCursor === undefined || seen.has(nextCursor) ? undefined : nextCursor;
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined && seen.size < maxPages);
  return { sessions: [...found.values()], isComplete: cursor === undefined };
}
