// The v2 test client on our raw wire, connected to an agent's process.

import { RequestError } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { type ClientPeer, clientPeer } from "@parley/acp/v2";
import { type AgentChoice, agentCommand } from "./agent-command.ts";
import { type V2AgentSender, v2Client, v2UnstableClient } from "./v2-client.ts";
import { type Connected, EventLog, type Wire } from "./wire-script.ts";

export interface ConnectedPeer extends Connected<V2AgentSender> {
  readonly peer: ClientPeer;
}

export function connectParleyV2(choice: AgentChoice): ConnectedPeer {
  const log = new EventLog();
  const warnings: string[] = [];
  const wire: Wire<V2AgentSender> = {
    peer: (): ClientPeer => peer,
    refuse: (code, message, data) => new RequestError(code, message, data),
  };
  const stable = v2Client(wire, log);
  const unstable = choice.unstable ? v2UnstableClient(log) : undefined;
  const { transport, process } = spawnTransport(...agentCommand("v2", choice));
  const peer: ClientPeer = clientPeer(transport, {
    // a stable client lists one method that the agent does not have, to see it refused
    unstable: choice.unstable ? "*" : ["session/fork"],
    requests: { ...unstable?.requests, ...stable.requests },
    notifications: { ...unstable?.notifications, ...stable.notifications },
    log: (level, message, details) => {
      if (level === "warn" || level === "error") warnings.push(`${message} ${JSON.stringify(details)}`);
    },
  });
  const close = async () => {
    await peer.close();
    return process.exited;
  };
  const complaints = () => warnings.join("\n") + process.stderrTail();
  return { agent: peer, peer, log, complaints, keepsOrder: true, exited: process.exited, close };
}
