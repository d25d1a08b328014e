// A page of sessions as an agent listed them, for the edition that shows it to the client.

import type { AgentOpResult } from "../../edition/agent-edition.ts";
import type { SessionList } from "../client/connected-agent.ts";

export function listPage({ sessions, nextCursor }: SessionList): AgentOpResult {
  return {
    kind: "page",
    page: {
      sessions: sessions.map(({ updatedAt, ...session }) => ({
        ...session,
        createdAt: 0,
        // not said: the edition leaves out what is no time
        updatedAt: updatedAt === undefined ? Number.NaN : Date.parse(updatedAt),
        config: {},
      })),
      ...(nextCursor === undefined ? {} : { nextCursor }),
    },
  };
}
