// A client on Parley's typed wire of v1: everything validated both ways, which is the default.

import { spawnTransport } from "@parley/acp/node";
import { type BenchClient, runTask } from "../client-work.ts";
import { agentCommand } from "./agent-command.ts";
import { wireClient } from "./wire-client.ts";

await runTask(async (): Promise<BenchClient> => {
  const transport = spawnTransport(...agentCommand(new URL("./agent.ts", import.meta.url)), {
    // The limits are raised for the prompt of 64 MiB only; they cost the same wherever they are.
    limits: { maxMessageBytes: 512 * 2 ** 20, maxQueuedBytes: 512 * 2 ** 20 },
    onStderr: (text) => process.stderr.write(text),
  });
  return wireClient(transport);
});
