// From the start of the installed `parley agent` to its answer to `initialize`, as an editor waits for it: the launcher and
// the built packages, with a warm compile cache.

import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { atMost, type Benchmark, compare, type Entrant, entrants } from "../benchmark.ts";
import { build } from "../build.ts";
import { interleave, type RunOptions } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { launcher, RawAgent } from "./raw-agent.ts";
import { inWorkplace, type Workplace } from "./workplace.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const agentStartup: Benchmark = {
  name: "agent.startup",
  about:
    "start of the installed parley agent to the answer to initialize, cache warm; the floor is bare Node",
  target: {},
  async run(options) {
    if (!options.quick) await build();
    return inWorkplace((place) => measure(options, place));
  },
};

async function measure(options: RunOptions, place: Workplace) {
  // in a hurry nothing was built, and the sources are run
  const ours = options.quick ? launcher : install(place.home);
  const commands: Readonly<Record<Entrant, readonly string[]>> = {
    floor: [process.execPath, file("../floor/startup-agent.mjs")],
    sdk: [process.execPath, file("../sdk/startup-agent.mjs")],
    ours: [ours, "agent"],
  };
  const ready = (entrant: Entrant) => timed(commands[entrant], place);
  // twice: the cache is written when a process ends, and read from the second start on
  if (!options.quick) for (const entrant of [...entrants, ...entrants]) await ready(entrant);
  const samples = await interleave(entrants, options, ready);
  const over = figure(samples.ours.map((ms, round) => ms - (samples.floor[round] ?? Number.NaN))).median;
  return {
    ...compare(samples, "ms", "less is better"),
    notes: ["the SDK's agent answers and does nothing else"],
    checks: [atMost("ms over bare Node", over, 60)],
  };
}

/** Lays the built command out as npm installs it: without its sources, beside its dependencies. Returns the launcher. */
function install(folder: string): string {
  const cli = join(folder, "node_modules/@parley/cli");
  mkdirSync(dirname(cli), { recursive: true });
  for (const name of ["bin", "dist", "package.json"]) {
    cpSync(file(`../../packages/cli/${name}`), join(cli, name), { recursive: true });
  }
  // what a registry would have sent
  symlinkSync(file("../../node_modules"), join(cli, "node_modules"), "junction");
  return join(cli, "bin/parley");
}

async function timed(command: readonly string[], place: Workplace): Promise<number> {
  const started = performance.now();
  const agent = new RawAgent({
    command,
    ...place,
    env: {
      ...place.env,
      NODE_COMPILE_CACHE: `${place.home}/node`,
      // an installed command takes the Node of the user
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    },
  });
  await agent.handshake();
  const ms = performance.now() - started;
  await agent.close();
  return ms;
}
