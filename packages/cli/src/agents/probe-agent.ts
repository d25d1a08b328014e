// Starts an agent to look at it: who it is, how long it takes, whether it wants a login. Nothing is logged in to and no
// prompt is sent; the session that is opened lives in a throw-away folder.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClientSession, type ConnectedAgent, errorCodes, RequestError } from "@parley/acp";
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
  /** Whether it opens a session as things are, or in its own words why not. */
  readonly session: "ok" | "login_needed" | { readonly error: string };
  readonly loginMethods: readonly { readonly id: string; readonly name: string }[];
  /** Variables that look like keys and that it was given: whose account is used must not be a surprise. */
  readonly keys: readonly string[];
}

export interface ProbeOptions {
  readonly handshakeTimeoutMs?: number;
  readonly sessionTimeoutMs?: number;
  /** How long it may take to name its commands. Default 0: it is not waited for. */
  readonly commandsTimeoutMs?: number;
}

/** Rejects with a LaunchError when the agent does not start. */
export async function probeAgent(entry: AgentEntry, options: ProbeOptions = {}): Promise<AgentFacts> {
  const { handshakeTimeoutMs } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-check-")));
  let keys: readonly string[] = [];
  const launched = await launchAgent(entry, {
    definition: { name: "parley", version: ownVersion() },
    // started here, as a run does: its command may name files of this folder
    env: agentCredentials(entry.name),
    ...(handshakeTimeoutMs === undefined ? {} : { handshakeTimeoutMs }),
    onProgress: (event) => {
      if (event.kind === "starting") ({ keys } = event);
    },
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  try {
    const { agent, handshakeMs } = launched;
    const { session, facts } = await opened(agent, folder, options);
    return {
      name: agent.info?.name ?? entry.name,
      title: agent.info?.title ?? agent.info?.name ?? entry.title ?? entry.name,
      ...(agent.info === undefined ? {} : { version: agent.info.version }),
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

/** A session that nobody uses: it is deleted again where the agent can. */
async function opened(
  agent: ConnectedAgent,
  cwd: string,
  { sessionTimeoutMs: timeoutMs = 30_000, commandsTimeoutMs = 0 }: ProbeOptions,
): Promise<{ session: AgentFacts["session"]; facts: SessionFacts }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    const session = await Promise.race([agent.open({ cwd }), late]);
    if (session === undefined) {
      return { session: { error: `no session was opened within ${timeoutMs} ms` }, facts: noSession };
    }
    const facts = await sessionFacts(session, commandsTimeoutMs);
    await removed(agent, session);
    return { session: "ok", facts };
  } catch (error) {
    if (error instanceof RequestError && error.code === errorCodes.authRequired) {
      return { session: "login_needed", facts: noSession };
    }
    return { session: { error: problemOf(error).message }, facts: noSession };
  } finally {
    clearTimeout(timer);
  }
}

async function removed(agent: ConnectedAgent, session: ClientSession): Promise<void> {
  const { sessionId } = session;
  // an agent that does not want to let go of it is no worse for that
  await session.close().catch(() => undefined);
  if (agent.features.delete) await agent.delete(sessionId).catch(() => undefined);
}
