// What a turn does first: the servers that the session has now are there, or the user knows why not.

import type { Turn } from "@parley/acp";
import type { McpServers } from "./servers.ts";

/** A wait that nobody explains looks like a hang; a short one needs no explanation. */
const patienceMs = 1_000;

/** Rejects only when the turn is cancelled. */
export async function serversReady(turn: Turn, servers: McpServers): Promise<void> {
  servers.use(turn.session);
  if (servers.starting.length > 0) await wait(turn, servers);
  for (const failure of servers.takeFailures()) {
    const [title = "", ...more] = failure.split("\n");
    if (turn.client.features.notices) await turn.notice("warning", title, more.join("\n") || undefined);
    else await turn.think(`${failure}\n`);
  }
}

async function wait(turn: Turn, servers: McpServers): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(turn.signal.reason);
  turn.signal.addEventListener("abort", abort, { once: true });
  if (turn.signal.aborted) abort();
  const patience = setTimeout(() => {
    void turn.think(`Waiting for MCP servers to start: ${servers.starting.join(", ")}.\n`);
  }, patienceMs);
  try {
    await Promise.race([servers.started(), promise]);
  } finally {
    clearTimeout(patience);
    turn.signal.removeEventListener("abort", abort);
  }
}
