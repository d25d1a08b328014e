// A gateway in front of an agent on the typed wire of v1, or with PARLEY_BENCH_APP of one on agent().

import { agentPeer } from "@parley/acp/v1";
import { startGateway } from "@parley/gateway";
import { promptResult, workOf } from "../agent-work.ts";
import { initializeResult, sessionId } from "../messages.ts";
import { benchAgent } from "../parley/bench-agent.ts";
import { serveUntilEnd } from "./server-process.ts";

type Connect = Parameters<typeof startGateway>[0]["connect"];

const connectWire: Connect = (transport) => {
  const peer = agentPeer(transport, {
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
};

const app = benchAgent();
const connect: Connect =
  process.env.PARLEY_BENCH_APP === undefined ? connectWire : (transport) => app.connect(transport);
const { url, token } = await startGateway({ connect });
serveUntilEnd({ url, token });
