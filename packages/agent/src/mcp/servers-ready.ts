// Waits for the session's MCP servers at the start of a turn, and reports the ones that failed.

import type { Turn } from "@parley/acp";
import { abortable } from "../tools/base/abortable.ts";
import type { McpServers } from "./servers.ts";

/** A longer wait is explained to the user. */
const noticeMs = 1_000;

/** Rejects only when the turn is cancelled. */
export async function serversReady(turn: Turn, servers: McpServers): Promise<void> {
  servers.sync(turn.session);
  if (servers.starting.length > 0) await wait(turn, servers);
  for (const failure of servers.takeFailures()) {
    const [title = "", ...more] = failure.split("\n");
    if (turn.client.features.notices) await turn.notice("warning", title, more.join("\n") || undefined);
    else await turn.think(`${failure}\n`);
  }
}

async function wait(turn: Turn, servers: McpServers): Promise<void> {
  const notice = setTimeout(() => {
    void turn.think(`Waiting for MCP servers to start: ${servers.starting.join(", ")}.\n`);
  }, noticeMs);
  try {
    await abortable(turn.signal, servers.started());
  } finally {
    clearTimeout(notice);
  }
}
