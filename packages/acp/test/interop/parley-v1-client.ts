// The v1 test client on our raw wire, connected to an agent's process.

import { RequestError } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { type ClientPeer, clientPeer } from "@parley/acp/v1";
import { type AgentChoice, agentCommand } from "./agent-command.ts";
import { type V1AgentSender, v1Client, v1UnstableClient } from "./v1-client.ts";
import { type Connected, EventLog, type Wire } from "./wire-script.ts";

export interface ConnectedPeer extends Connected<V1AgentSender> {
  readonly peer: ClientPeer;
}

export function connectParleyV1(choice: AgentChoice): ConnectedPeer {
  const log = new EventLog();
  const warnings: string[] = [];
  const wire: Wire<V1AgentSender> = {
    peer: (): ClientPeer => peer,
    refuse: (code, message, data) => new RequestError(code, message, data),
  };
  const stable = v1Client(wire, log);
  const unstable = choice.unstable ? v1UnstableClient(log) : undefined;
  const { transport, process } = spawnTransport(...agentCommand("v1", choice));
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
