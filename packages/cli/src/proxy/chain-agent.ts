// The agent of a chain: a name that is known, or a command.

import type { Transport } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { wrapTransport } from "@parley/acp/transport";
import { type AgentSandbox, LaunchError } from "@parley/client";
import { reachAgent } from "@parley/client/launch";
import type { NamedEdition } from "@parley/dialects";
import { translated } from "../bridge/translated.ts";
import { type ChosenAgent, chooseAgent, knownAgentNames } from "../settings/named-agent.ts";
import type { ChainVoice } from "./chain-voice.ts";

export function agentOf(argv: readonly string[], edition?: NamedEdition): ChosenAgent {
  const [word = ""] = argv;
  const isName = argv.length === 1 && knownAgentNames().includes(word);
  return isName ? chooseAgent(word, [], edition) : chooseAgent(undefined, argv, edition);
}

/** In version 1 or 2, whatever it speaks. Rejects with one sentence. */
export async function reachedTransport(
  { entry, credentials }: ChosenAgent,
  { say, stderr }: ChainVoice,
  sandbox?: AgentSandbox,
): Promise<Transport> {
  try {
    const { transport: reached, released } = await reachAgent(entry, {
      env: credentials,
      ...optional({ sandbox }),
      onEvent(event) {
        if (event.kind === "stderr") stderr(event.text);
        if (event.kind === "left_behind") say(`the agent left files behind: ${event.paths.join(", ")}`);
      },
    });
    // nothing of its sandbox is left when it has been closed
    const transport = wrapTransport(reached, {
      async close(reason) {
        await reached.close(reason);
        await released;
      },
    });
    return entry.edition === undefined ? transport : (await translated(transport, entry.edition)).transport;
  } catch (error) {
    throw error instanceof LaunchError
      ? new Error(`${error.message}; ${error.hint}`, { cause: error })
      : error;
  }
}
