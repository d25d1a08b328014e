// The name of the agent that asks something.

import type { AgentTarget } from "./agent-target.ts";

/** The name of the entry or, if it is only the address of a server, the name that the agent gives itself. */
export function askerName(
  entry: AgentTarget["entry"],
  info: { readonly name: string; readonly title?: string | null | undefined } | undefined,
): string {
  const isAddress = entry.transport !== "stdio" && URL.parse(entry.url)?.host === entry.name;
  return (isAddress ? (info?.title ?? info?.name) : undefined) || entry.name;
}
