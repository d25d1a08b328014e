// A program: the v1 test agent on the official SDK. `unstable` as its argument takes the SDK's unstable entry.

import { RequestError } from "@agentclientprotocol/sdk";
import { register, senderOf, stdioStreams } from "./sdk-app.ts";
import { type V1ClientSender, v1Agent, v1UnstableAgent } from "./v1-agent.ts";
import type { Wire } from "./wire-script.ts";

const isUnstable = process.argv[2] === "unstable";
const sdk = isUnstable
  ? await import("@agentclientprotocol/sdk/unstable")
  : await import("@agentclientprotocol/sdk");
const wire: Wire<V1ClientSender> = {
  peer: () => sender,
  refuse: (code, message, data) => new RequestError(code, message, data),
};

const app = sdk.agent({ name: "interop-agent" });
if (isUnstable) register(app, v1UnstableAgent(wire));
register(app, v1Agent(wire));
const connection = app.connect(sdk.ndJsonStream(...stdioStreams()));
const sender = senderOf<V1ClientSender>(connection.client);
