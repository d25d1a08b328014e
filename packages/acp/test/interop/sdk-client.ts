// Connects the test client of either version, on the official SDK, to an agent's process.

import { RequestError } from "@agentclientprotocol/sdk";
import { type AgentChoice, agentCommand } from "./agent-command.ts";
import { register, sdkOf, senderOf, spawnStreams } from "./sdk-app.ts";
import { type V1AgentSender, v1Client, v1UnstableClient } from "./v1-client.ts";
import { type V2AgentSender, v2Client, v2UnstableClient } from "./v2-client.ts";
import { type Connected, EventLog } from "./wire-script.ts";

async function connect<Sender>(version: "v1" | "v2", choice: AgentChoice): Promise<Connected<Sender>> {
  const sdk = await sdkOf(version, choice.unstable);
  const log = new EventLog();
  const wire = {
    peer: () => senderOf<never>(connection.agent),
    refuse: (code: number, message: string, data?: unknown) => new RequestError(code, message, data),
  };
  const app = sdk.client({ name: "interop-client" });
  if (choice.unstable) register(app, version === "v1" ? v1UnstableClient(log) : v2UnstableClient(log));
  register(app, version === "v1" ? v1Client(wire, log) : v2Client(wire, log));
  const [process, ...streams] = spawnStreams(...agentCommand(version, choice));
  const connection = app.connect(sdk.ndJsonStream(...streams));
  const close = async () => {
    connection.close();
    await process.close();
    return process.exited;
  };
  const complaints = () => process.stderrTail();
  const agent = senderOf<Sender>(connection.agent);
  return { agent, log, complaints, keepsOrder: false, exited: process.exited, close };
}

export const connectSdkV1 = (choice: AgentChoice) => connect<V1AgentSender>("v1", choice);
export const connectSdkV2 = (choice: AgentChoice) => connect<V2AgentSender>("v2", choice);
