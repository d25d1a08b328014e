// A proxy that does nothing, in front of the agent whose command is in the arguments.

import { serveStdio, spawnTransport } from "@parley/acp/node";
import { proxy } from "@parley/acp/proxy";

const [command = "", ...args] = process.argv.slice(2);
await serveStdio(proxy({ name: "idle", version: "1.0.0", agent: () => spawnTransport(command, args) }));
