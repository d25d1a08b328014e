// Benchmarks of a client process that starts its agent and talks to it over stdio.

import {
  atLeast,
  atMost,
  type Benchmark,
  compare,
  type Entrant,
  entrants,
  type Result,
} from "./benchmark.ts";
import type { Sample, Task } from "./client-work.ts";
import { oneCore } from "./one-core.ts";
import { interleave, type ProgramOptions, type RunOptions, runProgram } from "./rounds.ts";
import { figure } from "./statistics.ts";

type Samples = Readonly<Record<Entrant, readonly Sample[]>>;

const programs: Readonly<Record<Entrant, URL>> = {
  floor: new URL("./floor/client.ts", import.meta.url),
  sdk: new URL("./sdk/client.ts", import.meta.url),
  ours: new URL("./parley/client.ts", import.meta.url),
};

/** Ours again, through agent() and client() instead of the typed wire. */
const appProgram = new URL("./parley/app-client.ts", import.meta.url);

const run = (entrant: Entrant, task: Task, options: ProgramOptions = {}) =>
  // The programs print what client-work.ts makes.
  runProgram(programs[entrant], task, options) as Promise<Sample>;

const runApp = (task: Task, env: Readonly<Record<string, string>> = {}) =>
  runProgram(appProgram, task, { env }) as Promise<Sample>;

const totalCpu = (sample: Sample) => sample.clientCpuMs + sample.agentCpuMs;
const median = (samples: readonly Sample[], value: (sample: Sample) => number) =>
  figure(samples.map(value)).median;

function mapSamples(samples: Samples, value: (sample: Sample) => number): Record<Entrant, number[]> {
  return { floor: samples.floor.map(value), sdk: samples.sdk.map(value), ours: samples.ours.map(value) };
}

/** Wall, CPU of both processes and peak memory of each entrant, as lines below the table. */
function costs(samples: Samples, count: number, what: string): string[] {
  const lines = entrants.map((entrant) => {
    const perItem = (value: (sample: Sample) => number) =>
      ((median(samples[entrant], value) * 1000) / count).toFixed(2);
    const mib = (value: (sample: Sample) => number) => median(samples[entrant], value).toFixed(0);
    return (
      `${entrant.padEnd(5)} per ${what}: wall ${perItem((s) => s.wallMs)} µs, CPU client ${perItem((s) => s.clientCpuMs)}` +
      ` + agent ${perItem((s) => s.agentCpuMs)} µs; peak client ${mib((s) => s.clientPeakMiB)}, agent ${mib((s) => s.agentPeakMiB)} MiB`
    );
  });
  const ratios = (how: string, value: (sample: Sample) => number) => {
    const { vsFloor, vsSdk } = compare(mapSamples(samples, value), "ms", "less is better");
    return `by ${how} ${vsFloor.median.toFixed(2)} of the floor, ${vsSdk.median.toFixed(2)} x the SDK`;
  };
  const wall = ratios("wall", (sample) => sample.wallMs);
  lines.push(`${wall}; ${ratios("CPU of both processes", totalCpu)}`);
  return lines;
}

function stream(name: "chunks" | "mix", count: number, target: Benchmark["target"]): Benchmark {
  return {
    name: `stream.${name}`,
    about:
      name === "chunks"
        ? "text chunks of 60 characters from an agent over stdio, validated on both sides"
        : "a realistic mix of update kinds from an agent over stdio, validated on both sides",
    target,
    async run(options) {
      const size = options.quick ? { count: 1000, warmUp: 100 } : { count, warmUp: count };
      const task: Task = { kind: "stream", stream: name, ...size };
      const all = await interleave([...entrants, "sdk-no-await"] as const, options, (entrant) =>
        entrant === "sdk-no-await"
          ? run("sdk", task, { env: { PARLEY_BENCH_SDK: "no-await" } })
          : run(entrant, task),
      );
      const walls = (samples: readonly Sample[]) => median(samples, (sample) => sample.wallMs);
      const faster = walls(all["sdk-no-await"]) < walls(all.sdk) ? "sdk-no-await" : "sdk";
      const samples: Samples = { floor: all.floor, sdk: all[faster], ours: all.ours };
      const slower = faster === "sdk" ? "sdk-no-await" : "sdk";
      return {
        ...compare(
          mapSamples(samples, (sample) => task.count / sample.wallMs),
          "k msg/s",
          "more is better",
        ),
        notes: [
          ...costs(samples, task.count, "message"),
          `the SDK's faster mode is shown (${faster}); ${slower} makes ${(task.count / walls(all[slower])).toFixed(1)} k msg/s`,
        ],
      };
    },
  };
}

/** The same stream through the whole library: `turn.say` at one end, `session.onUpdate` at the other. */
function app(
  name: "chunks" | "mix",
  count: number,
  target: Benchmark["target"],
  ofStream: number,
): Benchmark {
  return {
    name: `app.${name}`,
    about: `stream.${name} through agent() and client(): turns, sessions, a store, from turn.say to onUpdate`,
    target,
    async run(options) {
      const size = options.quick ? { count: 1000, warmUp: 100 } : { count, warmUp: count };
      const task: Task = { kind: "stream", stream: name, ...size };
      const ways = [...entrants, "stream", "sqlite", "iterable", "v2"] as const;
      const all = await interleave(ways, options, (entrant) => {
        if (entrant === "ours") return runApp(task);
        if (entrant === "sqlite") return runApp(task, { PARLEY_BENCH_STORE: "sqlite" });
        if (entrant === "iterable") return runApp(task, { PARLEY_BENCH_APP: "iterate" });
        if (entrant === "v2") return runApp(task, { PARLEY_BENCH_VERSION: "2" });
        return run(entrant === "stream" ? "ours" : entrant, task);
      });
      const wall = (samples: readonly Sample[]) => median(samples, (sample) => sample.wallMs);
      const agentCpu = (samples: readonly Sample[]) => median(samples, (sample) => sample.agentCpuMs);
      const clientCpu = (samples: readonly Sample[]) => median(samples, (sample) => sample.clientCpuMs);
      const rate = (samples: readonly Sample[]) => (task.count / median(samples, (s) => s.wallMs)).toFixed(1);
      return {
        ...compare(
          mapSamples(all, (sample) => task.count / sample.wallMs),
          "k msg/s",
          "more is better",
        ),
        notes: [
          ...costs(all, task.count, "message"),
          `by the prompt's async iterable ${rate(all.iterable)} k msg/s; on version 2 ${rate(all.v2)} k msg/s; ` +
            `with an SQLite store ${rate(all.sqlite)} k msg/s; stream.${name} ${rate(all.stream)} k msg/s`,
        ],
        checks: [
          atLeast(`of stream.${name} in the same run`, wall(all.stream) / wall(all.ours), ofStream),
          atMost(
            "CPU of the client, of the typed wire's client",
            clientCpu(all.ours) / clientCpu(all.stream),
            1.2,
          ),
          ...(name === "chunks"
            ? []
            : [
                atMost("CPU of the agent, of the SDK's agent", agentCpu(all.ours) / agentCpu(all.sdk), 0.5),
                atLeast("with an SQLite store, of memory", wall(all.ours) / wall(all.sqlite), 0.7),
              ]),
        ],
      };
    },
  };
}

/**
 * By CPU, with both processes on one core: what is compared is the work. With two idle cores, wall time
 * depends more on how the scheduler overlaps the processes than on what they do.
 */
function requests(name: string, about: string, full: number, inFlight: number, vsSdk: number): Benchmark {
  return {
    name,
    about: `${about}, over stdio, by CPU of both processes on one core`,
    target: { vsSdk },
    async run(options) {
      // The compiler is done with our code after some 15,000 requests, with the SDK's earlier.
      const { count, warmUp } = options.quick ? { count: 640, warmUp: 64 } : { count: full, warmUp: 20_000 };
      const launcher = oneCore();
      const task: Task = { kind: "requests", count, inFlight, warmUp };
      const samples = await interleave(entrants, options, (entrant) => run(entrant, task, { launcher }));
      const perRequest = mapSamples(samples, (sample) => (totalCpu(sample) * 1000) / count);
      const where =
        launcher.length > 0
          ? `both processes of every entrant are kept on one core (${launcher.join(" ")})`
          : "there is no taskset here: the processes move between cores, so expect a wide spread";
      return {
        ...compare(perRequest, "µs CPU/request", "less is better"),
        notes: [...costs(samples, count, "request"), where],
      };
    },
  };
}

const prompt64: Benchmark = {
  name: "prompt.64mib",
  about: "one session/prompt with an image of 64 MiB (and 1, 8, 32) over stdio, limit raised",
  // "at most 1.2 of the floor", turned round.
  target: { vsFloor: 1 / 1.2 },
  async run(options) {
    const sizes = options.quick ? [1, 33] : [1, 8, 32, 64];
    const bySize = new Map<number, Samples>();
    for (const [nth, mib] of sizes.entries()) {
      const total = (n: number) => n * sizes.length;
      const progress: RunOptions["progress"] = (done, of, entrant) =>
        options.progress(nth * of + done, total(of), `${entrant} ${mib} MiB`);
      bySize.set(
        mib,
        await interleave(entrants, { ...options, progress }, (e) => run(e, { kind: "prompt", mib })),
      );
    }
    return promptResult(bySize);
  },
};

function promptResult(bySize: ReadonlyMap<number, Samples>): Result {
  const walls = (samples: Samples) =>
    compare(
      mapSamples(samples, (sample) => sample.wallMs),
      "ms",
      "less is better",
    );
  const sizes = [...bySize].map(([mib, samples]) => ({ mib, samples, ...walls(samples) }));
  const [small, largest] = [sizes[1], sizes.at(-1)];
  if (small === undefined || largest === undefined) throw new Error("at least two sizes are needed");
  const growth = largest.ours.median / largest.mib / (small.ours.median / small.mib);
  const held = (entrant: Entrant) =>
    median(largest.samples[entrant], (sample) => (sample.agentPeakMiB - sample.agentIdleMiB) / largest.mib);
  const notes = sizes.map(({ mib, ours, sdk, floor, vsFloor, samples }) => {
    const cpu = entrants
      .map((entrant) => `${entrant} ${median(samples[entrant], totalCpu).toFixed(0)}`)
      .join(", ");
    return (
      `${String(mib).padStart(2)} MiB: ours ${ours.median.toFixed(1)}, sdk ${sdk.median.toFixed(1)}, floor ${floor.median.toFixed(1)} ms;` +
      ` ours ${(ours.median / mib).toFixed(1)} ms/MiB, ${(1 / vsFloor.median).toFixed(2)} of the floor; CPU of both: ${cpu} ms`
    );
  });
  const peaks = entrants.map((entrant) => `${entrant} ${held(entrant).toFixed(2)}`).join(", ");
  notes.push(`agent's peak minus idle, per byte of the ${largest.mib} MiB prompt: ${peaks}`);
  const { samples: _, mib: __, ...result } = largest;
  return {
    ...result,
    notes,
    checks: [
      atMost(`ms/MiB at ${largest.mib} over ms/MiB at ${small.mib} (linear)`, growth, 1.25),
      atMost("agent's peak RSS minus idle, per byte", held("ours"), 4.5),
    ],
  };
}

export const stdioBenchmarks: readonly Benchmark[] = [
  // with 50,000 updates the compiler is measured too
  stream("chunks", 200_000, { vsFloor: 0.95, vsSdk: 4.5 }),
  stream("mix", 200_000, { vsFloor: 0.8, vsSdk: 7.5 }),
  app("chunks", 200_000, {}, 0.85),
  app("mix", 200_000, { vsFloor: 0.65, vsSdk: 5 }, 0.8),
  requests("rpc.sequential", "session/set_mode, one after the other", 10_000, 1, 1.5),
  requests("rpc.inflight64", "session/set_mode, 64 in flight", 40_000, 64, 3.5),
  prompt64,
];
