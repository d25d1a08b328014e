// A page of sessions as both versions write it.

import type { SessionPage } from "../model/store.ts";

export function pageToWire({ sessions, nextCursor }: SessionPage): object {
  const infos = sessions.map(({ sessionId, cwd, additionalDirectories, title, updatedAt }) => ({
    sessionId,
    cwd,
    // whoever passes on another agent's list may not know
    ...(Number.isFinite(updatedAt) ? { updatedAt: new Date(updatedAt).toISOString() } : {}),
    ...(title === undefined ? {} : { title }),
    ...(additionalDirectories.length === 0 ? {} : { additionalDirectories: [...additionalDirectories] }),
  }));
  return { sessions: infos, ...(nextCursor === undefined ? {} : { nextCursor }) };
}
