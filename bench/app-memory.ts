// Benchmarks of the high-level API in one process: many sessions, and the view.

import { atLeast, atMost, type Benchmark, compare, type Entrant, entrants } from "./benchmark.ts";
import type { MemorySample, MemoryTask } from "./memory-work.ts";
import { interleave, runProgram } from "./rounds.ts";
import type { SessionsSample, SessionsTask } from "./sessions-work.ts";
import { figure } from "./statistics.ts";

const sessionPrograms: Readonly<Record<Entrant, URL>> = {
  floor: new URL("./floor/sessions.ts", import.meta.url),
  sdk: new URL("./sdk/sessions.ts", import.meta.url),
  ours: new URL("./parley/sessions.ts", import.meta.url),
};

const viewPrograms = {
  floor: new URL("./floor/view.ts", import.meta.url),
  ours: new URL("./parley/view.ts", import.meta.url),
} as const;

const sessions: Benchmark = {
  name: "sessions.10k",
  about:
    "10,000 sessions of client() on one connection, ten updates each, as JSON in one process; heap per idle session",
  target: { vsSdk: 4 },
  async run(options) {
    const task: SessionsTask = options.quick
      ? { sessions: 100, updatesEach: 2 }
      : { sessions: 10_000, updatesEach: 10 };
    const env = { NODE_OPTIONS: "--expose-gc" };
    const samples = await interleave(
      entrants,
      options,
      // The programs print what sessions-work.ts makes.
      (entrant) => runProgram(sessionPrograms[entrant], task, { env }) as Promise<SessionsSample>,
    );
    const by = (value: (sample: SessionsSample) => number): Record<Entrant, number[]> => ({
      floor: samples.floor.map(value),
      sdk: samples.sdk.map(value),
      ours: samples.ours.map(value),
    });
    const heap = by((sample) => sample.bytesPerSession);
    const bytes = figure(heap.ours).median;
    return {
      ...compare(
        by((sample) => sample.updatesPerMs),
        "k updates/s",
        "more is better",
      ),
      notes: [
        `heap per idle session: ours ${bytes.toFixed(0)}, sdk ${figure(heap.sdk).median.toFixed(0)}, floor ${figure(heap.floor).median.toFixed(0)} bytes` +
          " (the SDK's way here keeps nothing per session)",
      ],
      checks: [atMost("bytes of heap per idle session", bytes, 4096)],
    };
  },
};

const view: Benchmark = {
  name: "view",
  about: "the view's fold over text chunks; the floor is a lookup and an append; the SDK has no view",
  target: {},
  async run(options) {
    const task: MemoryTask = options.quick
      ? { warmUpMs: 5, measureMs: 20 }
      : { warmUpMs: 300, measureMs: 500 };
    const samples = await interleave(
      ["floor", "ours"] as const,
      options,
      // The programs print what memory-work.ts makes.
      (entrant) => runProgram(viewPrograms[entrant], task) as Promise<MemorySample>,
    );
    const rates = (of: readonly MemorySample[]) => of.map((sample) => 1000 / sample.microsPerMessage);
    const ours = rates(samples.ours);
    return {
      // there is nothing of the SDK's to compare with: its column repeats the floor
      ...compare(
        { ours, floor: rates(samples.floor), sdk: rates(samples.floor) },
        "k events/s",
        "more is better",
      ),
      notes: ["the SDK has no view; its column repeats the floor"],
      checks: [atLeast("thousand chunk events per second", figure(ours).median, 500)],
    };
  },
};

export const appMemoryBenchmarks: readonly Benchmark[] = [sessions, view];
