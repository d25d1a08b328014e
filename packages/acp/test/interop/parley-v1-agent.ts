// A program: the v1 test agent on our raw wire. `unstable` as its argument switches the unstable protocol on.

import { RequestError } from "@parley/acp";
import { stdioTransport } from "@parley/acp/node";
import { type AgentPeer, agentPeer, type SessionUpdate } from "@parley/acp/v1";
import { type V1ClientSender, v1Agent, v1UnstableAgent } from "./v1-agent.ts";
import { sessionId, updates } from "./v1-samples.ts";
import type { Wire } from "./wire-script.ts";

const isUnstable = process.argv[2] === "unstable";
const wire: Wire<V1ClientSender> = {
  peer: (): AgentPeer => peer,
  refuse: (code, message, data) => new RequestError(code, message, data),
};
const stable = v1Agent(wire);
const unstable = isUnstable ? v1UnstableAgent(wire) : undefined;

const peer: AgentPeer = agentPeer(stdioTransport(), {
  unstable: isUnstable ? "*" : [],
  requests: {
    ...stable.requests,
    ...unstable?.requests,
    "_parley.test/reply-then-update": (_, request) => {
      request.afterReply(() => {
        // a lost update fails the test that waits for it
        void peer.notify("session/update", { sessionId, update: updates[0] as SessionUpdate });
      });
      return {};
    },
  },
  notifications: { ...stable.notifications, ...unstable?.notifications },
  log: (level, message, details) => {
    if (level === "warn" || level === "error")
      process.stderr.write(`${message} ${JSON.stringify(details)}\n`);
  },
});
