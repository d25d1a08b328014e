// From the start of `parley agent` in a checkout to its answer to `initialize`, as an editor waits for it. The launcher,
// the sources, the compile cache and the kept handshake are those of every day; all caches are warm.

import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Benchmark, compare, type Entrant, entrants } from "../benchmark.ts";
import { interleave, type RunOptions } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { launcher, RawAgent } from "./raw-agent.ts";
import { inWorkplace, type Workplace } from "./workplace.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const commands: Readonly<Record<Entrant, readonly string[]>> = {
  floor: [process.execPath, file("../floor/startup-agent.mjs")],
  sdk: [process.execPath, file("../sdk/startup-agent.mjs")],
  ours: [launcher, "agent"],
};

export const agentStartup: Benchmark = {
  name: "agent.startup",
  about:
    "start of parley agent in a checkout to the answer to initialize, caches warm; the floor is bare Node",
  // "at most 1.6 times", turned round
  target: { vsFloor: 1 / 1.6 },
  run: (options) => inWorkplace((place) => measure(options, place)),
};

async function measure(options: RunOptions, place: Workplace) {
  const ready = (entrant: Entrant) => timed(commands[entrant], place);
  // twice: what is kept is written by one start, and read by the next
  for (const entrant of [...entrants, ...entrants]) await ready(entrant);
  const samples = await interleave(entrants, options, ready);
  const loaded: number[] = [];
  for (let round = 0; round < Math.min(options.rounds, 5); round++) {
    rmSync(`${place.home}/cache/handshake.json`, { force: true });
    loaded.push(await timed(commands.ours, place));
  }
  return {
    ...compare(samples, "ms", "less is better"),
    notes: [
      `without a kept handshake, the agent loaded first: ${figure(loaded).median.toFixed(0)} ms`,
      "the SDK's agent answers and does nothing else",
    ],
  };
}

async function timed(command: readonly string[], place: Workplace): Promise<number> {
  const started = performance.now();
  const agent = new RawAgent({
    command,
    ...place,
    env: { ...place.env, NODE_COMPILE_CACHE: `${place.home}/node` },
  });
  await agent.handshake();
  const ms = performance.now() - started;
  await agent.close();
  return ms;
}
