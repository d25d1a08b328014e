// Benchmarks of the sandbox: what it adds to the start of a command.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sandboxStatus } from "@parley/sandbox";
import { atMost, type Benchmark, compare, entrants } from "./benchmark.ts";
import { interleave, runProgram } from "./rounds.ts";
import type { SandboxSample, SandboxTask } from "./sandbox-work.ts";
import { figure } from "./statistics.ts";

const program = new URL("./sandbox-work.ts", import.meta.url);

/** Not in /tmp, which a sandbox does not show. */
const cache = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));

export const sandboxCommand: Benchmark = {
  name: "sandbox.command",
  about: "starting `true` 50 times in a sandbox; the floor is bare, the third is sandbox-runtime",
  target: {},
  async run(options) {
    const status = await sandboxStatus();
    // the suite is checked on machines without bubblewrap too
    const ran = status.isAvailable ? entrants : (["floor"] as const);
    const count = options.quick ? 2 : 50;
    mkdirSync(cache, { recursive: true });
    const root = mkdtempSync(join(cache, "bench-sandbox-"));
    try {
      execFileSync("git", ["init", "-q", root]);
      const samples = await interleave(ran, options, async (entrant) => {
        const task: SandboxTask = { entrant, root, count };
        return (await runProgram(program, task)) as SandboxSample; // what sandbox-work.ts prints
      });
      const values = entrants.map((entrant) => {
        const of = samples[entrant as "floor"] ?? samples.floor;
        return [entrant, of.map(({ commandMs }) => commandMs)] as const;
      });
      const times = Object.fromEntries(values) as Record<(typeof entrants)[number], number[]>; // all three are there
      const [floor, sdk, ours] = entrants.map((entrant) => figure(times[entrant]).median);
      const over = (value = 0) => value - (floor ?? 0);
      return {
        ...compare(times, "ms", "less is better"),
        notes: [
          status.isAvailable
            ? `over a bare start: ours ${over(ours).toFixed(1)} ms, sandbox-runtime ${over(sdk).toFixed(1)} ms`
            : `no sandbox can start here (${status.reason}), so all columns are bare`,
        ],
        checks: options.quick ? [] : [atMost("ms over a bare start", over(ours), 15)],
      };
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
};
