// Connects the test client of either version, on our raw wire, to an agent's process.

import { RequestError, type Transport } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import * as v1 from "@parley/acp/v1";
import * as v2 from "@parley/acp/v2";
import { type AgentChoice, agentCommand } from "./agent-command.ts";
import { type V1AgentSender, v1Client, v1UnstableClient } from "./v1-client.ts";
import { type V2AgentSender, v2Client, v2UnstableClient } from "./v2-client.ts";
import { type Connected, EventLog, type Wire } from "./wire-script.ts";

interface Handlers {
  readonly requests: object;
  readonly notifications: object;
}

/** What differs between the versions. */
interface Version<Sender, Peer extends Sender> {
  readonly name: "v1" | "v2";
  readonly clientPeer: (
    transport: Transport,
    options: Handlers & Omit<v1.ClientPeerOptions, keyof Handlers>,
  ) => Peer;
  readonly stable: (wire: Wire<Sender>, log: EventLog) => Handlers;
  readonly unstable: (log: EventLog) => Handlers;
}

function connect<Sender, Peer extends Sender & { close(): Promise<void> }>(
  { name, clientPeer, stable, unstable }: Version<Sender, Peer>,
  choice: AgentChoice,
): Connected<Sender> & { readonly peer: Peer } {
  const log = new EventLog();
  const warnings: string[] = [];
  const scripts = [
    ...(choice.unstable ? [unstable(log)] : []),
    stable(
      {
        peer: () => peer,
        refuse: (code, message, data) => new RequestError("other", message, { code, data }),
      },
      log,
    ),
  ];
  const transport = spawnTransport(...agentCommand(name, choice));
  const peer: Peer = clientPeer(transport, {
    // a stable client lists one method that the agent does not have, to see it refused
    unstable: choice.unstable ? "*" : ["fork"],
    requests: Object.assign({}, ...scripts.map(({ requests }) => requests)),
    notifications: Object.assign({}, ...scripts.map(({ notifications }) => notifications)),
    log: (level, message, details) => {
      if (level === "warn" || level === "error") warnings.push(`${message} ${JSON.stringify(details)}`);
    },
  });
  const close = async () => {
    await peer.close();
    return transport.exited;
  };
  const complaints = () => warnings.join("\n") + transport.stderrTail();
  return { agent: peer, peer, log, complaints, keepsOrder: true, exited: transport.exited, close };
}

export const connectParleyV1 = (choice: AgentChoice) =>
  connect<V1AgentSender, v1.ClientPeer>(
    { name: "v1", clientPeer: v1.clientPeer, stable: v1Client, unstable: v1UnstableClient },
    choice,
  );

export const connectParleyV2 = (choice: AgentChoice) =>
  connect<V2AgentSender, v2.ClientPeer>(
    { name: "v2", clientPeer: v2.clientPeer, stable: v2Client, unstable: v2UnstableClient },
    choice,
  );
