// A program: the test agent of the official SDK on stdio. Its arguments are the version and "logged-in".

import { ndJsonStream } from "@agentclientprotocol/sdk";
import { connectorOf } from "./app-sdk-apps.ts";
import { stdioStreams } from "./sdk-app.ts";

const connect = await connectorOf(process.argv[2]);
connect(ndJsonStream(...stdioStreams()));
