// A client on Parley's typed wire of v1: everything validated both ways, which is the default.

import type { Transport } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { conductor, proxy } from "@parley/acp/proxy";
import { memoryPair } from "@parley/acp/transport";
import { type BenchClient, runTask } from "../client-work.ts";
import { agentCommand } from "./agent-command.ts";
import { wireClient } from "./wire-client.ts";

/** The same agent with a proxy in front of it that does nothing, in this process. */
function behindProxy(agent: Transport): Transport {
  const [near, far] = memoryPair();
  conductor([proxy({ name: "idle", version: "1.0.0" }), () => agent]).connect(far);
  return near;
}

await runTask(async (): Promise<BenchClient> => {
  const transport = spawnTransport(...agentCommand(new URL("./agent.ts", import.meta.url)), {
    // The limits are raised for the prompt of 64 MiB only; they cost the same wherever they are.
    limits: { maxMessageBytes: 512 * 2 ** 20, maxQueuedBytes: 512 * 2 ** 20 },
    onStderr: (text) => process.stderr.write(text),
  });
  return wireClient(process.env.PARLEY_BENCH_PROXY === "inside" ? behindProxy(transport) : transport);
});
