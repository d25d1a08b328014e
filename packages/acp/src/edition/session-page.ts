// A page of sessions as both versions write it.

import { optional } from "../base/optional.ts";
import type { SessionPage } from "../model/store.ts";
import { nonEmpty } from "./asks.ts";

export function pageToWire({ sessions, nextCursor }: SessionPage): object {
  const infos = sessions.map(({ sessionId, cwd, additionalDirectories, title, updatedAt }) => ({
    sessionId,
    cwd,
    ...optional({
      // a relay may not know the time
      updatedAt: Number.isFinite(updatedAt) ? new Date(updatedAt).toISOString() : undefined,
      title,
      additionalDirectories: nonEmpty(additionalDirectories),
    }),
  }));
  return { sessions: infos, ...optional({ nextCursor }) };
}
