// A program: the test agent on our raw wire. Its arguments are the version and "unstable" for the unstable protocol.

import { RequestError, type Transport } from "@parley/acp";
import { stdioTransport } from "@parley/acp/node";
import * as v1 from "@parley/acp/v1";
import * as v2 from "@parley/acp/v2";
import { v1Agent, v1UnstableAgent } from "./v1-agent.ts";
import { sessionId, updates } from "./v1-samples.ts";
import { v2Agent, v2UnstableAgent } from "./v2-agent.ts";

const unstable = process.argv[3] === "unstable" ? "*" : [];
const refuse = (code: number, message: string, data?: unknown) =>
  new RequestError("other", message, { code, data });
const log = (level: string, message: string, details: unknown) => {
  if (level === "warn" || level === "error") process.stderr.write(`${message} ${JSON.stringify(details)}\n`);
};

if (process.argv[2] === "v2") serveV2(stdioTransport());
else serveV1(stdioTransport());

function serveV1(transport: Transport): void {
  const wire = { peer: (): v1.AgentPeer => peer, refuse };
  const stable = v1Agent(wire);
  const more = unstable === "*" ? v1UnstableAgent(wire) : undefined;
  const peer: v1.AgentPeer = v1.agentPeer(transport, {
    unstable,
    requests: {
      ...stable.requests,
      ...more?.requests,
      "_parley.test/reply-then-update": (_, request) => {
        request.afterReply(() => {
          // a lost update fails the test that waits for it
          void peer.notify("session/update", { sessionId, update: updates[0] as v1.SessionUpdate });
        });
        return {};
      },
    },
    notifications: { ...stable.notifications, ...more?.notifications },
    log,
  });
}

function serveV2(transport: Transport): void {
  const wire = { peer: (): v2.AgentPeer => peer, refuse };
  const stable = v2Agent(wire);
  const more = unstable === "*" ? v2UnstableAgent(wire) : undefined;
  const peer: v2.AgentPeer = v2.agentPeer(transport, {
    unstable,
    requests: { ...stable.requests, ...more?.requests },
    notifications: { ...stable.notifications, ...more?.notifications },
    log,
  });
}
