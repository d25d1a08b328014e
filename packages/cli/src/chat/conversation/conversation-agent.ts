// The agent of a conversation: found by the options of the command, and run by a host.

import { reviewKey } from "@parley/acp/extensions";
import { AgentHost, type SessionHost } from "@parley/client/host";
import { type AgentTarget, agentTarget } from "../../live/agent-target.ts";
import { claimKnown, type HistoryOpener } from "../../live/history-opener.ts";
import { LiveAgent } from "../../live/live-agent.ts";
import type { LiveOptions } from "../../live/live-options.ts";
import type { SecretsLoader } from "../../settings/known-secrets.ts";

/** How long an agent may take to end a cancelled turn. The user forces one that takes too long. */
const cancelTimeoutMs = 60_000;

export interface HostOptions {
  readonly options: LiveOptions;
  readonly secrets: SecretsLoader;
  readonly history: HistoryOpener | undefined;
}

/** Finds the agent and the session; nothing is started. Throws a CommandError. */
export async function findTarget(
  { options, history }: HostOptions,
  first: SessionHost,
  { claims = true } = {},
): Promise<AgentTarget> {
  const target = await agentTarget(options, history, (text) => first.notice("warning", text));
  if (target.known !== undefined && claims) await claimKnown(history, target.known, options.takesOver);
  return target;
}

export function hostedAgent(
  { options, secrets, history }: HostOptions,
  target: AgentTarget,
  first: SessionHost,
): AgentHost<LiveAgent> {
  const host = new AgentHost(
    ({ warn, ...ways }) =>
      new LiveAgent({
        ...ways,
        options,
        target,
        secrets,
        history,
        cancelTimeoutMs,
        unstable: ["fork", "plans", "subagents"],
        // so that our own agent leaves snapshots and /undo to the review of chat
        _meta: { [reviewKey]: true },
        isStderrShown: false,
        notice: warn,
      }),
    { isVerbose: options.showsStderr },
  );
  host.join(first);
  return host;
}
