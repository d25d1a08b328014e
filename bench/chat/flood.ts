// Benchmark of a long turn in `parley chat`, as fast as it can take it: time and memory, also of acpx.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atMost, type Benchmark, compare } from "../benchmark.ts";
import { interleave, type RunOptions } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { floodAgent, inFolder, leave, parleyChat } from "./place.ts";
import { inTerminal } from "./terminal.ts";

const floorClient = fileURLToPath(new URL("../floor/prompt-client.mjs", import.meta.url));
const sdkClient = fileURLToPath(new URL("../sdk/prompt-client.mjs", import.meta.url));

/** A client for terminals that others have written. It is no dependency: what it depends on runs scripts when installed. */
const acpx = "acpx@0.19.1";

interface Sample {
  readonly wallMs: number;
  readonly peakMiB: number;
}

/** The argv of acpx, which is fetched with PARLEY_ACPX=1. */
function acpxArgv(folder: string): string[] | undefined {
  if (process.env["PARLEY_ACPX"] === undefined) return undefined;
  const args = ["install", "--ignore-scripts", "--no-save", "--prefix", folder, acpx];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`cannot install ${acpx}: ${stderr}`);
  const agent = `${process.execPath} ${floodAgent}`;
  const cli = join(folder, "node_modules/acpx/dist/cli.js");
  return [cli, "--agent", agent, "--cwd", folder, "--approve-all", "exec", "go"];
}

/** From its start to its end; ours is left when the turn is over. */
async function sample(
  argv: readonly string[],
  folder: string,
  updates: number,
  isChat: boolean,
): Promise<Sample> {
  const env = { PARLEY_BENCH_UPDATES: String(updates), HOME: folder };
  const terminal = inTerminal(argv, folder, env);
  let peakMiB = 0;
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, terminal.peakMiB());
  }, 50);
  try {
    if (isChat) {
      await terminal.shows("for help");
      terminal.type("go\r");
      // the hint of the prompt, after the turn
      await terminal.shows("Enter queues");
      await terminal.shows("for help");
      peakMiB = Math.max(peakMiB, terminal.peakMiB());
      terminal.type(leave);
    }
    const code = await terminal.ended;
    if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}`);
    return { wallMs: performance.now() - terminal.startedAt, peakMiB };
  } finally {
    clearInterval(watch);
    terminal.kill();
  }
}

export const chatFlood: Benchmark = {
  name: "chat.flood",
  about: "100,000 updates of a turn in a terminal, start to end; the floor prints their text and no more",
  target: {},
  run: (options: RunOptions) =>
    inFolder(options, async (folder) => {
      const updates = options.quick ? 1_000 : 100_000;
      const others = acpxArgv(folder);
      const starts: Record<string, readonly string[]> = {
        floor: [floorClient, floodAgent],
        sdk: [sdkClient, floodAgent],
        ours: parleyChat(options, floodAgent),
        ...(others && { acpx: others }),
      };
      const samples = await interleave(Object.keys(starts), options, (name) =>
        sample(starts[name] ?? [], folder, updates, name === "ours"),
      );
      const walls = (name: string) => (samples[name] ?? []).map(({ wallMs }) => wallMs);
      const peak = (name: string) => figure((samples[name] ?? []).map(({ peakMiB }) => peakMiB)).median;
      const ours = figure(walls("ours")).median;
      const times = { floor: walls("floor"), sdk: walls("sdk"), ours: walls("ours") };
      const theirs = others && figure(walls("acpx")).median;
      return {
        ...compare(times, "ms", "less is better"),
        notes: [
          `peak RSS: floor ${peak("floor").toFixed(0)}, SDK ${peak("sdk").toFixed(0)}, ours ${peak("ours").toFixed(0)} MiB`,
          theirs === undefined
            ? "acpx runs too with PARLEY_ACPX=1, which fetches it"
            : `${acpx}: ${theirs.toFixed(0)} ms (ours is ${(theirs / ours).toFixed(2)} x), peak RSS ${peak("acpx").toFixed(0)} MiB`,
        ],
        checks: options.quick ? [] : [atMost("peak RSS, MiB", peak("ours"), 250)],
      };
    }),
};
