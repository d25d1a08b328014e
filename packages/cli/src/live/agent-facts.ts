// What is known about the agent of a session.

import type { AgentFacts } from "@parley/client/conversation";
import type { AgentTarget } from "./agent-target.ts";
import type { LiveAgent } from "./live-agent.ts";
import type { LiveOptions } from "./live-options.ts";

/** Before it is chosen, `live` is undefined and what was typed is its name. */
export function agentFacts(
  { agent, command, address }: LiveOptions,
  live: Pick<LiveAgent, "target" | "running"> | undefined,
): AgentFacts {
  const name = live?.target.agent.name ?? agent ?? command[0] ?? address?.name ?? "parley";
  const { info, edition, capabilities } = live?.running ?? {};
  const own = info?.title ?? info?.name;
  return {
    name,
    asker: live === undefined ? name : askerName(live.target.entry, info),
    title: own === undefined ? undefined : `${own} ${info?.version ?? ""}`.trim(),
    edition,
    accepts: {
      images: capabilities?.image ?? false,
      steering: capabilities?.steer ?? false,
      forks: capabilities?.fork ?? false,
    },
  };
}

/** The name of the entry or, if it is only the address of a server, the name that the agent gives itself. */
export function askerName(
  entry: AgentTarget["entry"],
  info: { readonly name: string; readonly title?: string | null | undefined } | undefined,
): string {
  const isAddress = entry.transport !== "stdio" && URL.parse(entry.url)?.host === entry.name;
  return (isAddress ? (info?.title ?? info?.name) : undefined) || entry.name;
}

/** Our own agent runs its commands in a sandbox. Others run their own tools: only a sandbox around them confines those. */
export function sandboxText(
  { target, isOwn }: Pick<LiveAgent, "target" | "isOwn">,
  { sandbox, sandboxesAgent }: Pick<LiveOptions, "sandbox" | "sandboxesAgent">,
): string {
  const { entry } = target;
  const profile = sandbox ?? target.sandbox ?? "workspace";
  if (sandboxesAgent || (entry.transport === "stdio" && entry.sandbox === true))
    return `agent in sandbox ${profile}`;
  return isOwn && profile !== "off" ? `sandbox ${profile}` : "no sandbox";
}
