// A client on client(): sessions and prompts, whatever version the agent speaks.

import { spawnTransport } from "@parley/acp/node";
import { runTask } from "../client-work.ts";
import { agentCommand } from "./agent-command.ts";
import { appBenchClient } from "./bench-client.ts";

const version = process.env.PARLEY_BENCH_VERSION === "2" ? "v2" : "v1";

await runTask(() => {
  const transport = spawnTransport(...agentCommand(new URL("./app-agent.ts", import.meta.url)), {
    onStderr: (text) => process.stderr.write(text),
  });
  return appBenchClient(transport, version);
});
