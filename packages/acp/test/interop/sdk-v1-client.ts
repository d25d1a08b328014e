// The v1 test client on the official SDK, connected to an agent's process.

import { RequestError } from "@agentclientprotocol/sdk";
import { type AgentChoice, agentCommand } from "./agent-command.ts";
import { register, senderOf, spawnStreams } from "./sdk-app.ts";
import { type V1AgentSender, v1Client, v1UnstableClient } from "./v1-client.ts";
import { type Connected, EventLog, type Wire } from "./wire-script.ts";

export async function connectSdkV1(choice: AgentChoice): Promise<Connected<V1AgentSender>> {
  const sdk = choice.unstable
    ? await import("@agentclientprotocol/sdk/unstable")
    : await import("@agentclientprotocol/sdk");
  const log = new EventLog();
  const wire: Wire<V1AgentSender> = {
    peer: () => agent,
    refuse: (code, message, data) => new RequestError(code, message, data),
  };
  const app = sdk.client({ name: "interop-client" });
  if (choice.unstable) register(app, v1UnstableClient(log));
  register(app, v1Client(wire, log));
  const [process, ...streams] = spawnStreams(...agentCommand("v1", choice));
  const connection = app.connect(sdk.ndJsonStream(...streams));
  const agent = senderOf<V1AgentSender>(connection.agent);
  const close = async () => {
    connection.close();
    await process.close();
    return process.exited;
  };
  const complaints = () => process.stderrTail();
  return { agent, log, complaints, keepsOrder: false, exited: process.exited, close };
}
