// An agent on Parley's typed wire of v1: everything validated both ways, which is the default.

import { stdioTransport } from "@parley/acp/node";
import { agentPeer } from "@parley/acp/v1";
import { promptResult, workOf } from "../agent-work.ts";
import { initializeResult, sessionId } from "../messages.ts";

// The limits are raised for the prompt of 64 MiB only; they cost the same wherever they are.
const huge = 512 * 2 ** 20;

const peer = agentPeer(stdioTransport({ limits: { maxMessageBytes: huge } }), {
  limits: { maxInFlightBytes: huge },
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
