// The record of a session in the history, and its form in the store.

import { createHash, randomBytes } from "node:crypto";
import { normalPath } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { SessionRecord } from "@parley/acp/store";

/** The agent of a session. */
export interface HistoryAgent {
  /** Its name. */
  readonly name: string;
  /** The command and its arguments, if the user typed them instead of a name. */
  readonly command?: readonly string[];
}

/**
 * Identifies an agent: a typed command by its argv, another one by its name. Of an argv it is a hash, since words that were
 * typed may be secrets. `fillOlderAgents` of the store fills in the same.
 */
export function agentKey({ name, command }: HistoryAgent): string {
  const text = JSON.stringify(command ?? name);
  return command === undefined ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Whether two agents are the same. */
export function isSameAgent(one: HistoryAgent, other: HistoryAgent): boolean {
  return agentKey(one) === agentKey(other);
}

/** A recorded session of any agent. */
export interface HistorySession {
  /** The id in this history, short enough to type. */
  readonly id: string;
  /** The name that the user gave it. */
  readonly name: string | undefined;
  /** The title that the agent gave it. */
  readonly title: string | undefined;
  /** The agent that it belongs to. */
  readonly agent: HistoryAgent;
  /** The agent's id of the session, to load or resume it. */
  readonly agentSessionId: string;
  /** Its working directory. */
  readonly cwd: string;
  /** Its further directories. */
  readonly additionalDirectories: readonly string[];
  /**
   * The proxies in front of its agent, in the words of the application that recorded it, such as `--proxy` and `redact`. Empty
   * without proxies.
   */
  readonly proxies: readonly string[];
  /** The session that went on in its place from an earlier prompt, after a rewind. */
  readonly rewoundTo: string | undefined;
  /** When it was recorded first, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When it was used last, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/** The facts of a new session. */
export type NewHistorySession = Pick<HistorySession, "agent" | "agentSessionId" | "cwd"> &
  Partial<Pick<HistorySession, "id" | "name" | "title" | "additionalDirectories" | "proxies">> & {
    /** The session of the history of which it is a copy. */
    readonly forks?: string;
    /** The last entry that it has of that session. Default: all. */
    readonly atSeq?: number;
  };

interface Kept {
  readonly agent: HistoryAgent;
  readonly agentSessionId: string;
  readonly name?: string;
  readonly proxies?: readonly string[];
  readonly rewoundTo?: string;
}

const letters = "abcdefghijkmnpqrstuvwxyz23456789"; // none that look alike
const idLength = 10;

/** A session that has a name is found by it: its id follows from the agent, the place and the name. */
export function sessionId(agent: HistoryAgent, cwd: string, name: string | undefined): string {
  const bytes =
    name === undefined
      ? randomBytes(idLength)
      : createHash("sha256")
          .update(JSON.stringify([agent.command ?? agent.name, normalPath(cwd), name]))
          .digest()
          .subarray(0, idLength);
  return [...bytes].map((byte) => letters[byte % letters.length]).join("");
}

export function recordFrom(session: NewHistorySession, now: number): SessionRecord {
  const { agent, agentSessionId, name, cwd, title, additionalDirectories = [], proxies = [] } = session;
  const { id = sessionId(agent, cwd, name) } = session;
  const data: Kept = { agent, agentSessionId, ...optional({ name }), ...(proxies.length > 0 && { proxies }) };
  return {
    sessionId: id,
    cwd,
    additionalDirectories,
    createdAt: now,
    updatedAt: now,
    config: {},
    ...optional({ title }),
    agent: agentKey(agent),
    agentSessionId,
    data,
  };
}

export function sessionFrom(record: SessionRecord): HistorySession {
  const { sessionId: id, cwd, additionalDirectories, title, createdAt, updatedAt, data } = record;
  // a record that was changed by hand has fewer facts, and is still listed
  const {
    agent = { name: "unknown" },
    agentSessionId = "",
    name,
    proxies = [],
    rewoundTo,
  } = (data ?? {}) as Partial<Kept>;
  const names = { id, name, title, agent, agentSessionId, proxies, rewoundTo };
  return { ...names, cwd, additionalDirectories, createdAt, updatedAt };
}
