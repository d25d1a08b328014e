// The client process of a benchmark over the network: starts the server, connects, measures, and prints the sample.

import { type BenchClient, type Sample, sampleOf, type Task } from "../client-work.ts";
import { figure } from "../statistics.ts";
import { type RemoteEntrant, type ServerProcess, startServer, type Wire } from "./server-process.ts";

/** The work on many connections. */
export type ManyTask =
  | { readonly kind: "idle"; readonly connections: number }
  | { readonly kind: "fair"; readonly connections: number; readonly count: number }
  | { readonly kind: "cycles"; readonly cycles: number };

export interface RemoteTask {
  readonly entrant: RemoteEntrant;
  readonly wire: Wire;
  readonly task: Task | ManyTask;
}

export interface IdleSample {
  /** The memory of the server, for each connection. */
  readonly rssBytes: number;
  readonly heapBytes: number;
}

export interface FairSample {
  /** The share of the slowest over the median, when half of everything had arrived. */
  readonly slowest: number;
  readonly wallMs: number;
}

export interface CyclesSample {
  readonly msPerCycle: number;
  /** Growth of the server's heap for each connection that was opened and closed. */
  readonly heapBytes: number;
}

type Connect = () => Promise<BenchClient>;

const { entrant, wire, task }: RemoteTask = JSON.parse(process.argv[2] ?? "");
const clients = {
  floor: () => import("./floor-client.ts"),
  sdk: () => import("./sdk-client.ts"),
  ours: () => import("./ours-client.ts"),
  app: () => import("./app-client.ts"),
};
const { connect } = await clients[entrant]();
const server = await startServer(entrant);
const sample = await run(() => connect(server.address, wire), server);
await server.stop();
process.stdout.write(`${JSON.stringify(sample)}\n`, () => process.exit(0));

async function run(
  open: Connect,
  to: ServerProcess,
): Promise<Sample | IdleSample | FairSample | CyclesSample> {
  switch (task.kind) {
    case "idle":
      return idle(open, to, task.connections);
    case "fair":
      return fair(open, task.connections, task.count);
    case "cycles":
      return cycles(open, to, task.cycles);
    default: {
      const client = await open();
      const measured = await sampleOf(client, task);
      await client.close();
      return measured;
    }
  }
}

/** A few at a time, as a server would meet them. */
async function openMany(open: Connect, count: number): Promise<BenchClient[]> {
  const clients: BenchClient[] = [];
  const lane = async (size: number) => {
    for (let i = 0; i < size; i += 1) clients.push(await open());
  };
  const lanes = Math.min(10, count);
  await Promise.all(Array.from({ length: lanes }, () => lane(Math.ceil(count / lanes))));
  return clients;
}

async function idle(open: Connect, to: ServerProcess, count: number): Promise<IdleSample> {
  // the first ones pay for the code, and for the heap that all of the work needs
  await openMany(open, count);
  const before = await to.memory();
  const { length } = await openMany(open, count);
  const after = await to.memory();
  return { rssBytes: (after.rss - before.rss) / length, heapBytes: (after.heap - before.heap) / length };
}

async function fair(open: Connect, connections: number, count: number): Promise<FairSample> {
  const clients = await openMany(open, connections);
  const received = () => clients.map((client) => client.updates());
  const stream = (updates: number) =>
    Promise.all(clients.map((client) => client.prompt([{ type: "text", text: `long ${updates}` }])));
  await stream(Math.ceil(count / 10));
  const base = received();
  const half = (clients.length * count) / 2;
  const started = performance.now();
  let middle: number[] | undefined;
  const look = () => {
    const now = received().map((updates, i) => updates - (base[i] ?? 0));
    if (now.reduce((sum, each) => sum + each, 0) >= half) middle = now;
    else setImmediate(look);
  };
  look();
  await stream(count);
  const wallMs = performance.now() - started;
  const shares = middle ?? [];
  return { slowest: Math.min(...shares) / figure(shares).median, wallMs };
}

async function cycles(open: Connect, to: ServerProcess, count: number): Promise<CyclesSample> {
  const cycle = async () => {
    const client = await open();
    await client.prompt([{ type: "text", text: "chunks 10" }]);
    await client.forget?.();
    await client.close();
  };
  // what is allocated once is not a leak
  for (let i = 0; i < count; i += 1) await cycle();
  const before = await to.memory();
  const started = performance.now();
  for (let i = 0; i < count; i += 1) await cycle();
  const msPerCycle = (performance.now() - started) / count;
  const after = await to.memory();
  return { msPerCycle, heapBytes: (after.heap - before.heap) / count };
}
