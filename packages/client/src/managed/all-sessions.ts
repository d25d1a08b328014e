// Lists all sessions of an agent, page by page.

import type { ClientConnection, SessionInfo } from "@parley/acp";
import { normalPath } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";

export interface AllSessionsQuery {
  /** Only sessions of this directory. */
  readonly cwd?: string;
  /** Default 1,000. */
  readonly limit?: number;
}

export interface AllSessions {
  readonly sessions: readonly SessionInfo[];
  /** Whether these are all sessions of the agent. */
  readonly isComplete: boolean;
}

/** For an agent that sends empty pages without end. */
const maxPages = 1_000;

export async function allSessions(
  agent: Pick<ClientConnection, "listSessions">,
  { cwd, limit = 1_000 }: AllSessionsQuery = {},
): Promise<AllSessions> {
  const found = new Map<string, SessionInfo>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const { sessions, nextCursor } = await agent.listSessions(optional({ cwd, cursor }));
    for (const session of sessions) {
      // some agents ignore the directory
      if (cwd !== undefined && normalPath(session.cwd) !== normalPath(cwd)) continue;
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
