// Benchmarks of one connection over the network: streams and requests, by WebSocket and by HTTP.

import { type Benchmark, compare, type Entrant, entrants } from "../benchmark.ts";
import type { Sample, Task } from "../client-work.ts";
import { oneCore } from "../one-core.ts";
import { interleave, type ProgramOptions, runProgram } from "../rounds.ts";
import { figure } from "../statistics.ts";
import type { RemoteTask } from "./client.ts";
import { type RemoteEntrant, remoteEntrants, type Wire } from "./server-process.ts";

const program = new URL("./client.ts", import.meta.url);

/** The client prints a sample of the kind that the task wants. */
export const runRemote = <Result>(task: RemoteTask, options: ProgramOptions = {}) =>
  runProgram(program, task, options) as Promise<Result>;

type Samples = Readonly<Record<RemoteEntrant, readonly Sample[]>>;

const cpu = (sample: Sample) => sample.clientCpuMs + sample.agentCpuMs;

const by = (samples: Samples, value: (sample: Sample) => number): Record<Entrant, number[]> => ({
  floor: samples.floor.map(value),
  sdk: samples.sdk.map(value),
  ours: samples.ours.map(value),
});

/** Wall and CPU of each entrant, and the ratios by CPU, which other work on the machine disturbs less. */
function costs(samples: Samples, names: readonly RemoteEntrant[], count: number, what: string): string[] {
  const lines = names.map((entrant) => {
    const per = (value: (sample: Sample) => number) =>
      ((figure(samples[entrant].map(value)).median * 1000) / count).toFixed(2);
    return (
      `${entrant.padEnd(5)} per ${what}: wall ${per((s) => s.wallMs)} µs,` +
      ` CPU client ${per((s) => s.clientCpuMs)} + server ${per((s) => s.agentCpuMs)} µs`
    );
  });
  const { vsFloor, vsSdk } = compare(by(samples, cpu), "ms", "less is better");
  lines.push(
    `by CPU of both processes ${vsFloor.median.toFixed(2)} of the floor, ${vsSdk.median.toFixed(2)} x the SDK`,
  );
  return lines;
}

function stream(name: string, wire: Wire, about: string, target: Benchmark["target"]): Benchmark {
  return {
    name,
    about,
    target,
    async run(options) {
      const count = options.quick ? 1000 : 100_000;
      const task: Task = { kind: "stream", stream: "chunks", count, warmUp: count };
      const env = { PARLEY_BENCH_SDK: "no-await" };
      const all = await interleave([...remoteEntrants, "sdk-no-await"] as const, options, (entrant) =>
        entrant === "sdk-no-await"
          ? runRemote<Sample>({ entrant: "sdk", wire, task }, { env })
          : runRemote<Sample>({ entrant, wire, task }),
      );
      const rate = (of: readonly Sample[]) => figure(of.map(({ wallMs }) => count / wallMs)).median;
      const isFaster = rate(all["sdk-no-await"]) > rate(all.sdk);
      const samples: Samples = { ...all, sdk: isFaster ? all["sdk-no-await"] : all.sdk };
      return {
        ...compare(
          by(samples, ({ wallMs }) => count / wallMs),
          "k msg/s",
          "more is better",
        ),
        notes: [
          ...costs(samples, remoteEntrants, count, "message"),
          `app is agent() and client(): ${rate(all.app).toFixed(1)} k msg/s; the SDK ${isFaster ? "without" : "with"} await is shown, the other way makes ${rate(isFaster ? all.sdk : all["sdk-no-await"]).toFixed(1)} k msg/s`,
        ],
      };
    },
  };
}

function requests(name: string, wire: Wire, full: number): Benchmark {
  return {
    name,
    about: `session/set_mode over ${wire === "ws" ? "WebSocket" : "HTTP"}, one after the other, both processes on one core`,
    target: {},
    async run(options) {
      const { count, warmUp } = options.quick ? { count: 100, warmUp: 10 } : { count: full, warmUp: full };
      const task: Task = { kind: "requests", count, inFlight: 1, warmUp };
      const launcher = oneCore();
      const samples = await interleave(entrants, options, (entrant) =>
        runRemote<Sample>({ entrant, wire, task }, { launcher }),
      );
      const all = { ...samples, app: [] };
      return {
        ...compare(
          by(all, ({ wallMs }) => (wallMs * 1000) / count),
          "µs/request",
          "less is better",
        ),
        notes: costs(all, entrants, count, "request"),
      };
    },
  };
}

export const wireBenchmarks: readonly Benchmark[] = [
  stream(
    "remote.ws",
    "ws",
    "text chunks of 60 characters over a WebSocket; the floor is the bare package ws, a frame for each",
    { vsFloor: 0.6, vsSdk: 4 },
  ),
  stream(
    "remote.sse",
    "http",
    "the same over Streamable HTTP; the floor is node:http, events in pieces of 64 KiB",
    { vsFloor: 0.6, vsSdk: 4 },
  ),
  requests("remote.ws-rpc", "ws", 5_000),
  requests("remote.http-rpc", "http", 2_000),
];
