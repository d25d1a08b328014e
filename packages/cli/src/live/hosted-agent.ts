// The agent of a session: found by the options of the command, run by a host, and asked to open the session.

import { AgentHost, type KnownSession, type SessionHost } from "@parley/client/host";
import { type AgentTarget, agentTarget } from "./agent-target.ts";
import { checkNew, claimKnown } from "./history-opener.ts";
import { type AgentUse, type HostOptions, LiveAgent, type LiveAgentSession } from "./live-agent.ts";

/** Finds the agent and the session; nothing is started. `warn` is told about unknown names. Throws a CommandError. */
export async function findTarget(
  { options, history }: HostOptions,
  { claims = true, warn }: { readonly claims?: boolean; readonly warn?: (text: string) => void } = {},
): Promise<AgentTarget> {
  const target = await agentTarget(options, history, warn);
  if (target.known !== undefined && claims) await claimKnown(history, target.known, options.takesOver);
  return target;
}

export function hostedAgent(
  given: HostOptions,
  target: AgentTarget,
  first: SessionHost,
  use: AgentUse,
): AgentHost<LiveAgent> {
  const host = new AgentHost((ways) => new LiveAgent({ ...given, ...use, ...ways, target }), use);
  host.join(first);
  return host;
}

/** What is known of the session of its target. */
export function foundBy(host: AgentHost<LiveAgent>): KnownSession {
  const { known, listed, cwd } = host.agent.target;
  return {
    agent: host,
    cwd,
    title: known?.name ?? known?.title ?? listed?.title ?? undefined,
    historyId: known?.id,
    isContinued: known !== undefined || listed !== undefined,
  };
}

/** Opens the session of its target. */
export async function openTarget(
  { agent }: AgentHost<LiveAgent>,
  session: SessionHost,
  name: string | undefined,
  replays = false,
): Promise<LiveAgentSession> {
  const opened = await agent.open((entry) => session.heard(entry), { name, replays });
  if (name !== undefined && agent.target.known === undefined) await checkNew(opened.recording, name);
  return opened;
}
