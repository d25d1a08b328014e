// A program: the test agent on the official SDK. Its arguments are the version and "unstable" for the SDK's unstable entry.

import { RequestError } from "@agentclientprotocol/sdk";
import { register, sdkOf, senderOf, stdioStreams } from "./sdk-app.ts";
import { v1Agent, v1UnstableAgent } from "./v1-agent.ts";
import { v2Agent, v2UnstableAgent } from "./v2-agent.ts";

const isUnstable = process.argv[3] === "unstable";
const version = process.argv[2] === "v2" ? "v2" : "v1";
const sdk = await sdkOf(version, isUnstable);
const wire = {
  peer: () => senderOf<never>(connection.client),
  refuse: (code: number, message: string, data?: unknown) => new RequestError(code, message, data),
};

const app = sdk.agent({ name: "interop-agent" });
if (isUnstable) register(app, version === "v1" ? v1UnstableAgent(wire) : v2UnstableAgent(wire));
register(app, version === "v1" ? v1Agent(wire) : v2Agent(wire));
const connection = app.connect(sdk.ndJsonStream(...stdioStreams()));
