// The benchmark of starting a server: from its command to the answer to the first prompt over a WebSocket.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { type Benchmark, compare, type Entrant, entrants } from "../benchmark.ts";
import { build } from "../build.ts";
import { initializeParams } from "../messages.ts";
import { interleave } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { serverPrograms } from "./server-process.ts";

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const source = "--conditions=parley-source";
const token = "a-token-of-a-benchmark-is-no-secret";

interface Sample {
  readonly listeningMs: number;
  readonly answeredMs: number;
}

function commandOf(entrant: Entrant, quick: boolean): string[] {
  if (entrant !== "ours") return [source, fileURLToPath(serverPrograms[entrant])];
  // in a hurry nothing was built, and the sources are run
  const cli = quick
    ? [source, path("../../packages/cli/src/main.ts")]
    : [path("../../packages/cli/dist/main.js")];
  return [...cli, "serve", "--json", "--", process.execPath, path("../floor/instant-agent.mjs")];
}

async function start(argv: readonly string[], folder: string): Promise<Sample> {
  const started = performance.now();
  const child = spawn(process.execPath, argv, {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: folder,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(folder, "cache"),
      PARLEY_HOME: join(folder, "home"),
      PARLEY_TOKEN: token,
    },
  });
  const closed = new Promise((resolve) => child.on("close", resolve));
  try {
    const url = await addressOf(child.stdout);
    const listeningMs = performance.now() - started;
    await promptOnce(url);
    return { listeningMs, answeredMs: performance.now() - started };
  } finally {
    child.stdin.end();
    child.kill();
    await closed;
  }
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const { url }: { readonly url?: string } = JSON.parse(line);
    if (url !== undefined) return url;
  }
  throw new Error("the server has ended without an address");
}

/** By hand, so that the client costs all of them the same. */
async function promptOnce(url: string): Promise<void> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), { headers: { authorization: `Bearer ${token}` } });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let lastId = 0;
  const ask = (method: string, params: object) =>
    new Promise<{ readonly sessionId: string }>((resolve) => {
      const id = ++lastId;
      const take = (data: Buffer) => {
        const message = JSON.parse(data.toString());
        if (message.id !== id) return;
        socket.off("message", take);
        resolve(message.result);
      };
      socket.on("message", take);
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  await ask("initialize", initializeParams());
  const { sessionId } = await ask("session/new", { cwd: "/", mcpServers: [] });
  await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
  socket.terminate();
}

export const serveStartup: Benchmark = {
  name: "serve.startup",
  about:
    "parley serve on an instant agent, from its start to the answer to the first prompt over a WebSocket",
  target: {},
  async run(options) {
    if (!options.quick) await build();
    const folder = mkdtempSync(join(tmpdir(), "parley-bench-serve-"));
    try {
      const run = (entrant: Entrant) => start(commandOf(entrant, options.quick), folder);
      // twice: the compile cache is written when a process ends, and read from the second start on
      if (!options.quick) for (const entrant of [...entrants, ...entrants]) await run(entrant);
      const samples = await interleave(entrants, options, run);
      const times = (value: (sample: Sample) => number) => ({
        floor: samples.floor.map(value),
        sdk: samples.sdk.map(value),
        ours: samples.ours.map(value),
      });
      const listening = times(({ listeningMs }) => listeningMs);
      const words = entrants.map((entrant) => `${entrant} ${figure(listening[entrant]).median.toFixed(0)}`);
      return {
        ...compare(
          times(({ answeredMs }) => answeredMs),
          "ms",
          "less is better",
        ),
        notes: [
          `until it listens: ${words.join(", ")} ms; ours then starts the agent's own process, which the others have not`,
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
