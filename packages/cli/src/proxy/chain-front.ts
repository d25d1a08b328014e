// Puts a chain of proxies in front of an agent that a command has started.

import type { Transport } from "@parley/acp";
import { type ChainComponent, conductor } from "@parley/acp/proxy";
import { memoryPair } from "@parley/acp/transport";
import type { AgentEntry } from "@parley/client/launch";
import { editionNamed } from "@parley/dialects";
import type { Invocation } from "../command/command.ts";
import { readConfig } from "../settings/config-file.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { type ChainVoice, chosenComponents } from "./components.ts";

export type Front = (agent: Transport, entry: AgentEntry) => Transport;

/** What `--chain` and `--proxy` put in front of an agent; undefined where neither is given. */
export function chainFront(values: Invocation["values"], voice: ChainVoice): Front | undefined {
  if (values["chain"] === undefined && values["proxy"] === undefined) return undefined;
  const proxies = chosenComponents(values, readConfig(() => undefined), voice);
  return (agent, entry) => inFront(proxies, agent, entry, voice);
}

/** The transport of the chain. It ends when the agent has gone: whoever started the agent starts it again. */
function inFront(
  proxies: readonly ChainComponent[],
  agent: Transport,
  { name, edition }: AgentEntry,
  voice: ChainVoice,
): Transport {
  const [near, far] = memoryPair();
  const chain = conductor([...proxies, { name, start: () => agent, onExit: "fail" }], {
    log: chainLog(voice),
    ...(edition !== undefined && { editions: [editionNamed(edition)] }),
  });
  chain.connect(far);
  return near;
}

export function chainLog({ say }: ChainVoice) {
  return (level: string, message: string, fields?: object): void => {
    if (level !== "error" && level !== "warn") return;
    const details = Object.entries(fields ?? {}).map(([key, value]) =>
      key === "reason" ? `: ${String(value)}` : value instanceof Error ? `: ${value.message}` : "",
    );
    say(safeLine(`${message}${details.join("")}`));
  };
}
