// The v2 test client on the official SDK, connected to an agent's process.

import { RequestError } from "@agentclientprotocol/sdk/experimental/v2";
import { type AgentChoice, agentCommand } from "./agent-command.ts";
import { register, senderOf, spawnStreams } from "./sdk-app.ts";
import { type V2AgentSender, v2Client, v2UnstableClient } from "./v2-client.ts";
import { type Connected, EventLog, type Wire } from "./wire-script.ts";

export async function connectSdkV2(choice: AgentChoice): Promise<Connected<V2AgentSender>> {
  const sdk = choice.unstable
    ? await import("@agentclientprotocol/sdk/experimental/v2/unstable")
    : await import("@agentclientprotocol/sdk/experimental/v2");
  const log = new EventLog();
  const wire: Wire<V2AgentSender> = {
    peer: () => agent,
    refuse: (code, message, data) => new RequestError(code, message, data),
  };
  const app = sdk.client({ name: "interop-client" });
  if (choice.unstable) register(app, v2UnstableClient(log));
  register(app, v2Client(wire, log));
  const [process, ...streams] = spawnStreams(...agentCommand("v2", choice));
  const connection = app.connect(sdk.ndJsonStream(...streams));
  const agent = senderOf<V2AgentSender>(connection.agent);
  const close = async () => {
    connection.close();
    await process.close();
    return process.exited;
  };
  const complaints = () => process.stderrTail();
  return { agent, log, complaints, keepsOrder: false, exited: process.exited, close };
}
