// Fills in `agent` and `agentSessionId` in rows that older versions wrote.

import { createHash } from "node:crypto";
import { isObject } from "../../base/objects.ts";
import type { Database } from "./database.ts";
import { sessionOfAgent } from "./session-rows.ts";

/** The same condition as in the index `session_without_agent`. */
const withoutAgent =
  "agent IS NULL AND (CASE WHEN json_valid(record) THEN json_type(record, '$.data.agent.name') END) = 'text'";

export function hasOlderAgents(db: Database): boolean {
  return db.lists(`SELECT 1 FROM session WHERE tenant = ? AND ${withoutAgent} LIMIT 1`, db.tenant).length > 0;
}

/**
 * Call it inside a change. Older versions of the history kept the agent only in `data`. If several sessions name the same session
 * of an agent, it belongs to the newest.
 */
export function fillOlderAgents(db: Database): void {
  const rows = db.lists(
    `SELECT key, record FROM session WHERE tenant = ? AND ${withoutAgent} ORDER BY updated_at, key`,
    db.tenant,
  );
  for (const [key, text] of rows) {
    const record: unknown = JSON.parse(String(text));
    const { data, updatedAt } = isObject(record) ? record : {};
    if (!isObject(data) || !isObject(data["agent"])) continue;
    const agent = agentKey(data["agent"]);
    const { agentSessionId } = data;
    const filled = { ...(isObject(record) ? record : {}), agent };
    if (typeof agentSessionId !== "string" || !isNewest(db, agent, agentSessionId, Number(updatedAt)))
      storeText(db, Number(key), filled);
    else storeText(db, Number(key), { ...filled, agentSessionId });
  }
}

/** As the history of `@parley/client` writes it: words that were typed may be secrets, so it is a hash of them. */
function agentKey({ name, command }: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(command ?? name);
  return command === undefined ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Whether no newer session has this session of the agent. Takes it from an older one. */
function isNewest(db: Database, agent: string, agentSessionId: string, updatedAt: number): boolean {
  const other = sessionOfAgent(db, agent, agentSessionId);
  if (other === undefined) return true;
  if (other.updatedAt > updatedAt) return false;
  const { agentSessionId: _, ...record } = JSON.parse(other.record) as Readonly<Record<string, unknown>>; // it has an agent
  storeText(db, other.key, record);
  return true;
}

function storeText(db: Database, key: number, record: Readonly<Record<string, unknown>>): void {
  db.run("UPDATE session SET record = ? WHERE key = ?", JSON.stringify(record), key);
}
