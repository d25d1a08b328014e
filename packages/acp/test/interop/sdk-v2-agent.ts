// A program: the v2 test agent on the official SDK. `unstable` as its argument takes the SDK's unstable entry.

import { RequestError } from "@agentclientprotocol/sdk/experimental/v2";
import { register, senderOf, stdioStreams } from "./sdk-app.ts";
import { type V2ClientSender, v2Agent, v2UnstableAgent } from "./v2-agent.ts";
import type { Wire } from "./wire-script.ts";

const isUnstable = process.argv[2] === "unstable";
const sdk = isUnstable
  ? await import("@agentclientprotocol/sdk/experimental/v2/unstable")
  : await import("@agentclientprotocol/sdk/experimental/v2");
const wire: Wire<V2ClientSender> = {
  peer: () => sender,
  refuse: (code, message, data) => new RequestError(code, message, data),
};

const app = sdk.agent({ name: "interop-agent" });
if (isUnstable) register(app, v2UnstableAgent(wire));
register(app, v2Agent(wire));
const connection = app.connect(sdk.ndJsonStream(...stdioStreams()));
const sender = senderOf<V2ClientSender>(connection.client);
