// A client on Parley's typed wire of v1: everything validated both ways, which is the default.

import { spawnTransport } from "@parley/acp/node";
import { clientPeer } from "@parley/acp/v1";
import { type BenchClient, runTask } from "../client-work.ts";
import { initializeParams, sessionId } from "../messages.ts";
import { agentCommand } from "./agent-command.ts";

await runTask(async (): Promise<BenchClient> => {
  const transport = spawnTransport(...agentCommand(new URL("./agent.ts", import.meta.url)), {
    // The limits are raised for the prompt of 64 MiB only; they cost the same wherever they are.
    limits: { maxMessageBytes: 512 * 2 ** 20, maxQueuedBytes: 512 * 2 ** 20 },
    onStderr: (text) => process.stderr.write(text),
  });
  let updates = 0;
  const peer = clientPeer(transport, {
    notifications: {
      "session/update": () => {
        updates += 1;
      },
    },
  });
  await peer.request("initialize", initializeParams());
  await peer.request("session/new", { cwd: "/project", mcpServers: [] });
  return {
    prompt: (prompt) => peer.request("session/prompt", { sessionId, prompt }),
    setMode: (modeId) => peer.request("session/set_mode", { sessionId, modeId }),
    updates: () => updates,
    close: () => peer.close(),
  };
});
