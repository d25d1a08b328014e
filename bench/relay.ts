// Benchmarks of `parley bridge` and of proxies between client and agent.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Benchmark, compare, type Entrant, entrants } from "./benchmark.ts";
import type { Sample, Task } from "./client-work.ts";
import { streams } from "./messages.ts";
import { interleave, runProgram } from "./rounds.ts";
import { figure } from "./statistics.ts";

interface Way {
  readonly program: URL;
  readonly env: Readonly<Record<string, string>>;
}

const peers = new URL("./parley/client.ts", import.meta.url);
const apps = new URL("./parley/app-client.ts", import.meta.url);
// it has no relay: shown for comparison, without a middle
const sdk: Way = { program: new URL("./sdk/client.ts", import.meta.url), env: {} };

function relayed(
  name: string,
  about: string,
  ways: Readonly<Record<Entrant, Way>>,
  vsFloor: number,
): Benchmark {
  return {
    name,
    about,
    target: { vsFloor },
    async run(options) {
      const size = options.quick ? { count: 1000, warmUp: 100 } : { count: 200_000, warmUp: 200_000 };
      const task: Task = { kind: "stream", stream: "chunks", ...size };
      const samples = await interleave(entrants, options, (entrant) => {
        const { program, env } = ways[entrant];
        // the programs print what client-work.ts makes
        return runProgram(program, task, { env }) as Promise<Sample>;
      });
      const rates = (entrant: Entrant) => samples[entrant].map(({ wallMs }) => task.count / wallMs);
      const perMessage = (entrant: Entrant, value: (sample: Sample) => number) =>
        ((figure(samples[entrant].map(value)).median * 1000) / task.count).toFixed(2);
      const cost = (entrant: Entrant, what: string) =>
        `${what}: wall ${perMessage(entrant, (s) => s.wallMs)} µs per message, CPU client ${perMessage(entrant, (s) => s.clientCpuMs)} + agent ${perMessage(entrant, (s) => s.agentCpuMs)} µs`;
      return {
        ...compare(
          { floor: rates("floor"), sdk: rates("sdk"), ours: rates("ours") },
          "k msg/s",
          "more is better",
        ),
        notes: [
          cost("ours", "with something in the middle"),
          cost("floor", "ours without a middle, in place of a floor"),
          cost("sdk", "the SDK without a middle"),
        ],
      };
    },
  };
}

export const relayBenchmarks: readonly Benchmark[] = [
  relayed(
    "relay.pass",
    "stream.chunks through parley bridge, both sides on version 1; the floor is ours without a middle",
    {
      floor: { program: peers, env: {} },
      sdk,
      ours: { program: peers, env: { PARLEY_BENCH_BRIDGE: "v1" } },
    },
    0.85,
  ),
  relayed(
    "proxy.process",
    "stream.chunks through a proxy that does nothing, in a process of its own; the floor is ours without one",
    {
      floor: { program: peers, env: {} },
      sdk,
      ours: { program: peers, env: { PARLEY_BENCH_PROXY: "process" } },
    },
    0.85,
  ),
  relayed(
    "proxy.inside",
    "stream.chunks through a proxy that does nothing, in the process of the client; the floor is ours without one",
    {
      floor: { program: peers, env: {} },
      sdk,
      ours: { program: peers, env: { PARLEY_BENCH_PROXY: "inside" } },
    },
    0.95,
  ),
  relayed(
    "relay.translate",
    "app.chunks through parley bridge, client on version 1, agent on version 2; the floor is ours without a middle",
    {
      floor: { program: apps, env: {} },
      sdk,
      ours: { program: apps, env: { PARLEY_BENCH_BRIDGE: "v1", PARLEY_BENCH_AGENT: "2" } },
    },
    0.45,
  ),
];

/** What a component of a chain costs the conductor: the difference between chains with one and with none. */
export const proxyComponent: Benchmark = {
  name: "proxy.component",
  about:
    "CPU of a conductor for one more component, per message of stream.chunks; the floor is JSON.parse of the message",
  // at most 1.5 times
  target: { vsFloor: 0.67 },
  async run(options) {
    const size = options.quick ? { count: 1000, warmUp: 100 } : { count: 200_000, warmUp: 1 };
    const task: Task = { kind: "stream", stream: "chunks", ...size };
    const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
    const file = join(folder, "cpu");
    const cpuOf = async (components: number): Promise<number> => {
      const env = { PARLEY_BENCH_COMPONENTS: String(components), PARLEY_BENCH_CPU: file };
      await runProgram(peers, task, { env });
      return Number(await readFile(file, "utf8"));
    };
    const samples = await interleave(entrants, options, async (entrant) => {
      if (entrant !== "ours") return parseUs(size.count);
      const none = await cpuOf(0);
      return Math.max(((await cpuOf(1)) - none) * 1000, 1) / size.count;
    });
    await rm(folder, { recursive: true });
    return { ...compare(samples, "µs CPU/message", "less is better"), notes: [] };
  },
};

function parseUs(count: number): number {
  const text = JSON.stringify({
    jsonrpc: "2.0",
    method: "session/update",
    params: streams.chunks(1),
  });
  for (let i = 0; i < 10_000; i++) JSON.parse(text);
  const started = process.cpuUsage();
  for (let i = 0; i < count; i++) JSON.parse(text);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / count;
}
