// The agent of the benchmarks on the typed wire of v1, over any transport: everything validated both ways, which is the
// default.

import type { Transport } from "@parley/acp";
import { agentPeer } from "@parley/acp/v1";
import { promptResult, workOf } from "../agent-work.ts";
import { initializeResult, sessionId } from "../messages.ts";

type Options = NonNullable<Parameters<typeof agentPeer>[1]>;

export function wireAgent(transport: Transport, options: Pick<Options, "limits"> = {}) {
  const peer = agentPeer(transport, {
    ...options,
    requests: {
      initialize: () => initializeResult(),
      "session/new": () => ({ sessionId }),
      "session/set_mode": () => ({}),
      "session/prompt": async ({ prompt }) => {
        const { params, count } = workOf(prompt);
        for (let i = 0; i < count; i += 1) {
          const full = peer.notify("session/update", params(i));
          if (full !== undefined) await full;
        }
        return promptResult();
      },
    },
  });
  return peer;
}
