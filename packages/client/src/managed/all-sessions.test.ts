import assert from "node:assert/strict";
import { test } from "node:test";
import { allSessions } from "./all-sessions.ts";

test("the sessions of a directory are found, however the agent writes it", async () => {
  const sessions = ["/ws/", "/ws", "/ws/a/..", "/ws/a", "/other"].map((cwd) => ({
    sessionId: cwd,
    cwd,
    additionalDirectories: [],
  }));
  const agent = { listSessions: async () => ({ sessions }) };
  const found = await allSessions(agent, { cwd: "/ws" });
  assert.deepEqual(
    found.sessions.map(({ sessionId }) => sessionId),
    ["/ws/", "/ws", "/ws/a/.."],
  );
});
