// Benchmarks of many connections: their memory, whether they are served alike, and what is left of closed ones.

import { atLeast, atMost, type Benchmark, compare, entrants } from "../benchmark.ts";
import { interleave } from "../rounds.ts";
import { figure } from "../statistics.ts";
import type { CyclesSample, FairSample, IdleSample, ManyTask } from "./client.ts";
import type { Wire } from "./server-process.ts";
import { runRemote } from "./wires.ts";

/** Ours is an agent in the process of the server, on agent(). */
const run = <Sample>(
  entrant: (typeof entrants)[number],
  wire: Wire,
  task: ManyTask,
  env: Readonly<Record<string, string>> = {},
) => runRemote<Sample>({ entrant: entrant === "ours" ? "app" : entrant, wire, task }, { env });

const kib = (bytes: number) => bytes / 1024;
const median = (values: readonly number[]) => figure(values).median;

const idle: Benchmark = {
  name: "remote.idle",
  about: "memory of the server for each of 1,000 idle WebSockets with a session, on top of 1,000 others",
  target: {},
  async run(options) {
    const connections = options.quick ? 20 : 1_000;
    // otherwise most of it is room that V8 keeps for its young generation; README.md has the figures
    const env = { NODE_OPTIONS: "--max-semi-space-size=1" };
    const samples = await interleave([...entrants, "http"] as const, options, (entrant) =>
      entrant === "http"
        ? run<IdleSample>("ours", "http", { kind: "idle", connections: connections / 2 }, env)
        : run<IdleSample>(entrant, "ws", { kind: "idle", connections }, env),
    );
    const rss = (of: readonly IdleSample[]) => of.map(({ rssBytes }) => Math.max(kib(rssBytes), 0.1));
    const heap = (of: readonly IdleSample[]) => median(of.map(({ heapBytes }) => kib(heapBytes)));
    const { floor, sdk, ours, http } = samples;
    return {
      ...compare({ floor: rss(floor), sdk: rss(sdk), ours: rss(ours) }, "KiB RSS", "less is better"),
      notes: [
        `heap and buffers in use: ours ${heap(ours).toFixed(1)}, sdk ${heap(sdk).toFixed(1)}, floor ${heap(floor).toFixed(1)} KiB`,
        `ours over HTTP, with two event streams each: RSS ${median(rss(http)).toFixed(1)}, in use ${heap(http).toFixed(1)} KiB`,
      ],
      checks: [
        atMost("KiB of RSS for each connection", median(rss(ours)), 64),
        atMost("KiB in use for each connection", heap(ours), 64),
        atMost("KiB in use for each connection over HTTP", heap(http), 64),
      ],
    };
  },
};

const fair: Benchmark = {
  name: "remote.fair",
  about: "50 WebSockets stream at once: what the slowest has received halfway, over the median",
  target: {},
  async run(options) {
    const task = {
      kind: "fair",
      connections: options.quick ? 5 : 50,
      count: options.quick ? 200 : 4_000,
    } as const;
    const samples = await interleave([...entrants, "http"] as const, options, (entrant) =>
      entrant === "http" ? run<FairSample>("ours", "http", task) : run<FairSample>(entrant, "ws", task),
    );
    // a ratio needs something above 0
    const share = (of: readonly FairSample[]) => of.map(({ slowest }) => Math.max(slowest, 0.001));
    const { floor, sdk, ours, http } = samples;
    return {
      ...compare(
        { floor: share(floor), sdk: share(sdk), ours: share(ours) },
        "of the median",
        "more is better",
      ),
      notes: [
        `chunks of 2,000 characters, ${task.count} on each connection, so that the buffers of the kernel hold a part of them only`,
      ],
      checks: [
        atLeast("slowest over the median", median(share(ours)), 0.5),
        atLeast("slowest over the median, over HTTP", median(share(http)), 0.5),
      ],
    };
  },
};

const cycles: Benchmark = {
  name: "remote.cycles",
  about:
    "1,000 times: connect, open a session, prompt, delete it, close; and what is left of it in the server's heap",
  target: {},
  async run(options) {
    const task = { kind: "cycles", cycles: options.quick ? 10 : 1_000 } as const;
    const samples = await interleave([...entrants, "http"] as const, options, (entrant) =>
      entrant === "http" ? run<CyclesSample>("ours", "http", task) : run<CyclesSample>(entrant, "ws", task),
    );
    const time = (of: readonly CyclesSample[]) => of.map(({ msPerCycle }) => msPerCycle);
    const left = (of: readonly CyclesSample[]) => median(of.map(({ heapBytes }) => heapBytes));
    const { floor, sdk, ours, http } = samples;
    return {
      ...compare({ floor: time(floor), sdk: time(sdk), ours: time(ours) }, "ms", "less is better"),
      notes: [
        `bytes left for each: ours ${left(ours).toFixed(0)}, ours over HTTP ${left(http).toFixed(0)}, sdk ${left(sdk).toFixed(0)}, floor ${left(floor).toFixed(0)}`,
        `over HTTP ours takes ${median(time(http)).toFixed(2)} ms`,
      ],
    };
  },
};

export const manyBenchmarks: readonly Benchmark[] = [idle, fair, cycles];
