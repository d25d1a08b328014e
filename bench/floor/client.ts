// A client on the floor: correlates answers by id, counts updates, checks nothing.

import { spawn } from "node:child_process";
import { type BenchClient, runTask } from "../client-work.ts";
import { initializeParams, sessionId } from "../messages.ts";
import { receive, sender } from "./ndjson.ts";

interface Incoming {
  readonly id?: number;
  readonly result?: unknown;
}

/** A command that starts the agent and passes on what it says; bench/tap.ts compares some. */
const through: string[] = JSON.parse(process.env.PARLEY_BENCH_THROUGH ?? "[]");

await runTask(async (): Promise<BenchClient> => {
  const agent = [process.execPath, ...process.execArgv, new URL("./agent.ts", import.meta.url).pathname];
  const [command = "", ...args] = [...through, ...agent];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const pending = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  let updates = 0;
  receive<Incoming>(child.stdout, ({ id, result }) => {
    if (id === undefined) {
      updates += 1;
      return;
    }
    pending.get(id)?.(result);
    pending.delete(id);
  });
  const send = sender(child.stdin);
  const request = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      lastId += 1;
      pending.set(lastId, resolve);
      send({ jsonrpc: "2.0", id: lastId, method, params });
    });
  await request("initialize", initializeParams());
  await request("session/new", { cwd: "/project", mcpServers: [] });
  return {
    prompt: (prompt) => request("session/prompt", { sessionId, prompt }),
    setMode: (modeId) => request("session/set_mode", { sessionId, modeId }),
    updates: () => updates,
    close: () => child.stdin.end(),
  };
});
