// A program: the v2 test agent on our raw wire. `unstable` as its argument switches the unstable protocol on.

import { RequestError } from "@parley/acp";
import { stdioTransport } from "@parley/acp/node";
import { type AgentPeer, agentPeer } from "@parley/acp/v2";
import { type V2ClientSender, v2Agent, v2UnstableAgent } from "./v2-agent.ts";
import type { Wire } from "./wire-script.ts";

const isUnstable = process.argv[2] === "unstable";
const wire: Wire<V2ClientSender> = {
  peer: (): AgentPeer => peer,
  refuse: (code, message, data) => new RequestError(code, message, data),
};
const stable = v2Agent(wire);
const unstable = isUnstable ? v2UnstableAgent(wire) : undefined;

const peer: AgentPeer = agentPeer(stdioTransport(), {
  unstable: isUnstable ? "*" : [],
  requests: { ...stable.requests, ...unstable?.requests },
  notifications: { ...stable.notifications, ...unstable?.notifications },
  log: (level, message, details) => {
    if (level === "warn" || level === "error")
      process.stderr.write(`${message} ${JSON.stringify(details)}\n`);
  },
});
