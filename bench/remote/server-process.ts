// A server in a process of its own: it prints its address, and measures its memory when it is asked.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const remoteEntrants = ["floor", "sdk", "ours", "app"] as const;
export type RemoteEntrant = (typeof remoteEntrants)[number];
export type Wire = "ws" | "http";

export interface Address {
  readonly url: string;
  readonly token?: string;
}

export interface Memory {
  readonly rss: number;
  readonly heap: number;
}

export interface ServerProcess {
  readonly address: Address;
  /** The heap of the server after a garbage collection. */
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

/** The rest of a server's process: it answers on stdin until that ends. */
export function serveUntilEnd(address: Address): void {
  const print = (value: object) => void process.stdout.write(`${JSON.stringify(value)}\n`);
  print(address);
  createInterface({ input: process.stdin })
    .on("line", () => void memory().then(print))
    .on("close", () => process.exit(0));
}

async function memory(): Promise<Memory> {
  for (let i = 0; i < 3; i += 1) {
    // there with --expose-gc, which is passed below
    (globalThis as { gc?: () => void }).gc?.();
    await nextTurn();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

export const serverPrograms: Readonly<Record<RemoteEntrant, URL>> = {
  floor: new URL("./floor-server.ts", import.meta.url),
  sdk: new URL("./sdk-server.ts", import.meta.url),
  ours: new URL("./ours-server.ts", import.meta.url),
  app: new URL("./ours-server.ts", import.meta.url),
};

export async function startServer(entrant: RemoteEntrant): Promise<ServerProcess> {
  const program = fileURLToPath(serverPrograms[entrant]);
  const child = spawn(process.execPath, [...process.execArgv, "--expose-gc", program], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...(entrant === "app" && { PARLEY_BENCH_APP: "1" }) },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`the server of ${entrant} ended`);
    return JSON.parse(value);
  };
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return {
    address: await next(),
    memory() {
      child.stdin.write("memory\n");
      return next();
    },
    async stop() {
      child.stdin.end();
      await closed;
    },
  };
}
