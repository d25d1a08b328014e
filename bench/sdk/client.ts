// A client on the official SDK, with its `session/update` handler registered first (its best case).

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import { type BenchClient, runTask } from "../client-work.ts";
import { initializeParams, sessionId } from "../messages.ts";

await runTask(async (): Promise<BenchClient> => {
  const child = spawn(
    process.execPath,
    [...process.execArgv, new URL("./agent.ts", import.meta.url).pathname],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  let updates = 0;
  const app = client({ name: "bench" }).onNotification("session/update", () => {
    updates += 1;
  });
  const connection = app.connect(
    // Node types its web streams apart from the DOM's; at run time they are the same classes.
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      { maxMessageBytes: 512 * 2 ** 20 },
    ),
  );
  await connection.agent.request("initialize", initializeParams());
  await connection.agent.request("session/new", { cwd: "/project", mcpServers: [] });
  return {
    prompt: (prompt) => connection.agent.request("session/prompt", { sessionId, prompt }),
    setMode: (modeId) => connection.agent.request("session/set_mode", { sessionId, modeId }),
    updates: () => updates,
    close: () => {
      connection.close();
      child.kill();
    },
  };
});
