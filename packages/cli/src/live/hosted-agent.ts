// The agent of a session: found by the options of the command, and run by a host.

import { AgentHost, type KnownSession, type SessionHost } from "@parley/client/internal";
import { type AgentTarget, agentTarget } from "./agent-target.ts";
import { claimKnown } from "./history-opener.ts";
import { type AgentUse, type HostOptions, LiveAgent } from "./live-agent.ts";

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
