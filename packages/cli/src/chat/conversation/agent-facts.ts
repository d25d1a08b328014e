// What is known about the agent of a session.

import type { LiveAgent } from "../../live/live-agent.ts";
import type { LiveOptions } from "../../live/live-options.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { AgentFacts } from "./conversation.ts";

/** Before it is chosen, `live` is undefined and what was typed is its name. */
export function agentFacts(
  { agent, command, address }: LiveOptions,
  live: Pick<LiveAgent, "target" | "running"> | undefined,
): AgentFacts {
  const name = live?.target.agent.name ?? agent ?? command[0] ?? address?.name ?? "parley";
  const { info, edition, capabilities } = live?.running ?? {};
  const own = info?.title ?? info?.name;
  return {
    name: safeLine(name),
    title: own === undefined ? undefined : safeLine(`${own} ${info?.version ?? ""}`).trim(),
    edition,
    accepts: {
      images: capabilities?.image ?? false,
      steering: capabilities?.steer ?? false,
      forks: capabilities?.fork ?? false,
    },
  };
}
