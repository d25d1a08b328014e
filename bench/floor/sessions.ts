// The floor of many sessions: each update to JSON text and back, and one lookup by session.

import { streams } from "../messages.ts";
import { heapPerSession, runSessions } from "../sessions-work.ts";

const sessions = new Map<string, { updates: number }>();
let handled = 0;

await runSessions({
  async open() {
    const sessionId = `session-${sessions.size}`;
    sessions.set(sessionId, { updates: 0 });
    return { sessionId };
  },
  heapPerSession,
  send(sessionId, i) {
    const text = JSON.stringify({
      jsonrpc: "2.0",
      method: "session/update",
      params: { ...streams.chunks(i), sessionId },
    });
    const session = sessions.get(JSON.parse(text).params.sessionId);
    if (session === undefined) return;
    session.updates += 1;
    handled += 1;
  },
  handled: () => handled,
});
