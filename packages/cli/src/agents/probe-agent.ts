// Starts an agent and opens a session in a temporary folder to learn its name, features and login state.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClientSession, type ConnectedAgent, errorCodes, RequestError } from "@parley/acp";
import { optional, withTimeout } from "@parley/acp/internal";
import { type AgentEntry, launchAgent, problemOf } from "@parley/client";
import { agentCredentials } from "../settings/agent-credentials.ts";
import { ownVersion } from "../settings/installation.ts";
import { noSession, type SessionFacts, sessionFacts } from "./session-facts.ts";

export interface AgentFacts extends SessionFacts {
  readonly name: string;
  readonly title: string;
  readonly version?: string;
  readonly protocol: number;
  readonly handshakeMs: number;
  readonly offers: readonly string[];
  /** Whether it opens a session, or why not. */
  readonly session: "ok" | "login_needed" | { readonly error: string };
  readonly loginMethods: readonly { readonly id: string; readonly name: string }[];
  /** Variables that look like keys and were passed to it: they decide whose account is used. */
  readonly keys: readonly string[];
}

export interface ProbeOptions {
  readonly handshakeTimeoutMs?: number;
  readonly sessionTimeoutMs?: number;
  /** How long to wait for its commands. Default 0. */
  readonly commandsTimeoutMs?: number;
}

/** Rejects with a LaunchError when the agent does not start. */
export async function probeAgent(entry: AgentEntry, options: ProbeOptions = {}): Promise<AgentFacts> {
  const { handshakeTimeoutMs } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-check-")));
  let keys: readonly string[] = [];
  const launched = await launchAgent(entry, {
    definition: { name: "parley", version: ownVersion() },
    // started in this folder, like a run: its command may name files here
    env: agentCredentials(entry.name),
    ...optional({ handshakeTimeoutMs }),
    onProgress: (event) => {
      if (event.kind === "starting") ({ keys } = event);
    },
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  try {
    const { agent, handshakeMs } = launched;
    const { session, facts } = await probeSession(agent, folder, options);
    return {
      name: agent.info?.name ?? entry.name,
      title: agent.info?.title ?? agent.info?.name ?? entry.title ?? entry.name,
      ...optional({ version: agent.info?.version }),
      protocol: agent.version,
      handshakeMs: Math.round(handshakeMs),
      offers: Object.entries(agent.features).flatMap(([name, has]) => (has ? [name] : [])),
      session,
      loginMethods: agent.authMethods.map(({ methodId, name }) => ({
        id: String(methodId),
        name: String(name),
      })),
      ...facts,
      keys,
    };
  } finally {
    await launched.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The session is deleted again if the agent can. */
async function probeSession(
  agent: ConnectedAgent,
  cwd: string,
  { sessionTimeoutMs: timeoutMs = 30_000, commandsTimeoutMs = 0 }: ProbeOptions,
): Promise<{ session: AgentFacts["session"]; facts: SessionFacts }> {
  try {
    const session = await withTimeout(timeoutMs, agent.open({ cwd }));
    if (session === undefined) {
      return { session: { error: `no session was opened within ${timeoutMs} ms` }, facts: noSession };
    }
    const facts = await sessionFacts(session, commandsTimeoutMs);
    await removeSession(agent, session);
    return { session: "ok", facts };
  } catch (error) {
    if (error instanceof RequestError && error.code === errorCodes.authRequired) {
      return { session: "login_needed", facts: noSession };
    }
    return { session: { error: problemOf(error).message }, facts: noSession };
  }
}

async function removeSession(agent: ConnectedAgent, session: ClientSession): Promise<void> {
  const { sessionId } = session;
  // a failure here says nothing about the agent
  await session.close().catch(() => undefined);
  if (agent.features.delete) await agent.delete(sessionId).catch(() => undefined);
}
