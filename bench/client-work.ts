// The work of a benchmark's client process: connect, warm up, measure.

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Usage, usage } from "./usage.ts";

/** A connected client, as far as a benchmark needs one. */
export interface BenchClient {
  prompt(blocks: Block[]): Promise<unknown>;
  setMode(modeId: string): Promise<unknown>;
  /** How many `session/update` the app's handler has seen. */
  updates(): number;
  /** Deletes the session, where the agent keeps it. */
  forget?(): Promise<unknown>;
  close(): unknown;
}

export type Block = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

/** What to measure, after so many messages to warm up; passed to the client process as JSON. */
export type Task =
  | {
      readonly kind: "stream";
      readonly stream: "chunks" | "mix";
      readonly count: number;
      readonly warmUp: number;
    }
  | { readonly kind: "requests"; readonly count: number; readonly inFlight: number; readonly warmUp: number }
  | { readonly kind: "prompt"; readonly mib: number };

/** One measurement of one entrant in a fresh pair of processes. */
export interface Sample {
  readonly wallMs: number;
  readonly clientCpuMs: number;
  readonly agentCpuMs: number;
  readonly agentIdleMiB: number;
  readonly agentPeakMiB: number;
  readonly clientPeakMiB: number;
}

/** The whole of a client process. */
export async function runTask(connect: () => Promise<BenchClient>): Promise<void> {
  const task: Task = JSON.parse(process.argv[2] ?? "");
  const client = await connect();
  try {
    process.stdout.write(`${JSON.stringify(await sampleOf(client, task))}\n`);
  } finally {
    await client.close();
  }
}

export function sampleOf(client: BenchClient, task: Task): Promise<Sample> {
  return measure(client, prepare(client, task));
}

interface Prepared {
  warmUp(): Promise<unknown>;
  measured(): Promise<unknown>;
}

async function measure(client: BenchClient, { warmUp, measured }: Prepared): Promise<Sample> {
  const idle = await agentUsage(client);
  await warmUp();
  const before = await agentUsage(client);
  const started = performance.now();
  const cpu = process.cpuUsage();
  await measured();
  const { user, system } = process.cpuUsage(cpu);
  const wallMs = performance.now() - started;
  const after = await agentUsage(client);
  return {
    wallMs,
    clientCpuMs: (user + system) / 1000,
    agentCpuMs: after.cpuMs - before.cpuMs,
    agentIdleMiB: idle.rssMiB,
    agentPeakMiB: after.peakMiB,
    clientPeakMiB: usage().peakMiB,
  };
}

async function agentUsage(client: BenchClient): Promise<Usage> {
  const answer = await client.prompt([{ type: "text", text: "usage" }]);
  // The answer is the one that agent-work.ts makes; no entrant changes _meta.
  return (answer as { _meta: { usage: Usage } })._meta.usage;
}

function prepare(client: BenchClient, task: Task): Prepared {
  switch (task.kind) {
    case "stream": {
      const turn = (count: number) => streamed(client, task.stream, count);
      return { warmUp: () => turn(task.warmUp), measured: () => turn(task.count) };
    }
    case "requests": {
      const ask = (count: number) => lanes(client, count, task.inFlight);
      return { warmUp: () => ask(task.warmUp), measured: () => ask(task.count) };
    }
    case "prompt": {
      const image = (bytes: number): Block => ({ type: "image", data: base64(bytes), mimeType: "image/png" });
      const big = image(task.mib * 2 ** 20);
      const send = (block: Block) => client.prompt([{ type: "text", text: "look" }, block]);
      // What the loading of programs left behind is collected now, not in the middle of a short figure.
      const warmUp = async () => {
        for (let i = 0; i < 4; i += 1) await send(image(2 ** 20));
      };
      return { warmUp, measured: () => send(big) };
    }
  }
}

/** One turn; over when the answer and all updates have been handled, whichever comes last. */
async function streamed(client: BenchClient, stream: string, count: number): Promise<void> {
  const expected = client.updates() + count;
  await client.prompt([{ type: "text", text: `${stream} ${count}` }]);
  while (client.updates() < expected) await nextTurn();
  if (client.updates() !== expected) throw new Error(`wanted ${expected} updates, got ${client.updates()}`);
}

/** `count` requests, `inFlight` of them open at any time. */
async function lanes(client: BenchClient, count: number, inFlight: number): Promise<void> {
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await client.setMode("code");
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

/** Base64 text of `bytes` characters, flat in memory. */
function base64(bytes: number): string {
  return Buffer.alloc(bytes, "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ").toString("latin1");
}
