// The agent of a session: found by the options of the command, run by a host, and asked to open the session.

import type { Entry } from "@parley/acp";
import {
  AgentHost,
  type AgentHostOptions,
  type KnownSession,
  type OpenedSession,
  type SessionHost,
} from "@parley/client/host";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { type AgentTarget, agentTarget } from "./agent-target.ts";
import { checkNew, claimKnown, type HistoryOpener } from "./history-opener.ts";
import { LiveAgent, type LiveAgentOptions, type LiveAgentSession } from "./live-agent.ts";
import type { LiveOptions } from "./live-options.ts";

export interface HostOptions {
  readonly options: LiveOptions;
  readonly secrets: SecretsLoader;
  readonly history: HistoryOpener | undefined;
}

/** How a front end runs an agent. */
export interface AgentUse
  extends AgentHostOptions,
    Pick<LiveAgentOptions, "cancelTimeoutMs" | "isStderrShown" | "unstable" | "_meta" | "kill" | "lateMs"> {
  /** Whether nobody can be asked. */
  readonly isAlone?: boolean;
  /** Aborts starting it. */
  readonly stopping?: AbortSignal;
}

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
  { isAlone = false, stopping, ...use }: AgentUse,
): AgentHost<LiveAgent> {
  const host = new AgentHost(
    ({ warn, asker, askTrust, signal, ...ways }) =>
      new LiveAgent({
        ...given,
        ...use,
        ...ways,
        target,
        asker: isAlone ? undefined : asker,
        askTrust: isAlone ? undefined : askTrust,
        signal: stopping === undefined ? signal : AbortSignal.any([signal, stopping]),
        notice: warn,
      }),
    use,
  );
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
  if (name !== undefined && agent.target.known === undefined) await checkNew(opened.recorder, name);
  return opened;
}

export function openedBy(
  agent: AgentHost<LiveAgent>,
  { session, recorder }: LiveAgentSession,
): OpenedSession {
  return {
    agent,
    session,
    historyId: recorder?.id,
    ...(recorder && {
      record: (entry: Entry) => recorder.entry(entry),
      stored: () => recorder.stored(),
    }),
  };
}
