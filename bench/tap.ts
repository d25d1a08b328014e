// Benchmarks of `parley tap`: a stream of updates from an agent to a client, recorded.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atMost, type Benchmark, compare, entrants } from "./benchmark.ts";
import type { Sample, Task } from "./client-work.ts";
import { interleave, type RunOptions, runProgram } from "./rounds.ts";
import { figure } from "./statistics.ts";

const client = new URL("./floor/client.ts", import.meta.url);
const launcher = fileURLToPath(new URL("../packages/cli/bin/parley", import.meta.url));
const pipe = fileURLToPath(new URL("./tap-pipe.ts", import.meta.url));

export const tap: Benchmark = {
  name: "tap",
  about:
    "the stream of stream.chunks through parley tap, recorded; the floor is two cats, the third a pipe in Node",
  // "at most 1.5 times the time of a plain pipe", turned round.
  target: { vsFloor: 1 / 1.5 },
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), "parley-bench-tap-"));
    try {
      return await measure(options, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function measure(options: RunOptions, folder: string) {
  const size = options.quick ? { count: 1000, warmUp: 100 } : { count: 100_000, warmUp: 50_000 };
  const task: Task = { kind: "stream", stream: "chunks", ...size };
  const through = {
    floor: () => ["/bin/sh", "-c", 'cat | "$@" | cat', "sh"],
    sdk: () => [process.execPath, pipe],
    ours: (trace: string) => [launcher, "tap", "--out", trace, "--"],
  };
  let lost = 0;
  let runs = 0;
  const samples = await interleave(entrants, options, async (entrant) => {
    const trace = join(folder, `${++runs}.trace`);
    const env = { PARLEY_BENCH_THROUGH: JSON.stringify(through[entrant](trace)), PARLEY_HOME: folder };
    // The program prints what client-work.ts makes.
    const sample = (await runProgram(client, task, { env })) as Sample;
    if (entrant === "ours") lost += missing(trace, size.count + size.warmUp);
    rmSync(trace, { force: true });
    return sample;
  });
  const walls = entrants.map((entrant) => [entrant, samples[entrant].map(({ wallMs }) => wallMs)] as const);
  const times = Object.fromEntries(walls) as Record<(typeof entrants)[number], number[]>; // all three are there
  const ms = (entrant: (typeof entrants)[number]) => figure(times[entrant]).median.toFixed(0);
  return {
    ...compare(times, "ms", "less is better"),
    notes: [
      `${size.count} updates of 244 bytes: two cats ${ms("floor")}, a pipe in Node ${ms("sdk")} (shown as sdk), the tap ${ms("ours")} ms`,
    ],
    checks: [atMost("updates that are not in the trace", lost, 0)],
  };
}

/** How many of the updates are not in the trace. */
function missing(trace: string, wanted: number): number {
  const lines = readFileSync(trace, "latin1").split("\n");
  return wanted - lines.filter((line) => line.includes("session/update")).length;
}
