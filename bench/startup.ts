// Benchmarks of startup: from spawn to the reply to `initialize`, and the memory of the idle agent.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { atMost, type Benchmark, compare, type Entrant, entrants } from "./benchmark.ts";
import { build } from "./build.ts";
import { initializeParams } from "./messages.ts";
import { interleave, type RunOptions } from "./rounds.ts";
import { figure } from "./statistics.ts";

interface StartupSample {
  readonly readyMs: number;
  readonly idleMiB: number;
}

const agents: Readonly<Record<Entrant, URL>> = {
  floor: new URL("./floor/startup-agent.mjs", import.meta.url),
  sdk: new URL("./sdk/startup-agent.mjs", import.meta.url),
  ours: new URL("./parley/startup-agent.mjs", import.meta.url),
};

const line = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initializeParams() })}\n`;

export const startup: Benchmark = {
  name: "startup",
  about: "spawn to the reply to initialize, of the built package; compile cache warm (and without)",
  target: { vsFloor: 0.75 },
  async run(options) {
    if (!options.quick) await build();
    const cache = mkdtempSync(join(tmpdir(), "parley-bench-cache-"));
    try {
      return await measure(options, cache);
    } finally {
      rmSync(cache, { recursive: true, force: true });
    }
  },
};

async function measure(options: RunOptions, cache: string) {
  const warm = entrants.map((entrant) => ({ entrant, env: { NODE_COMPILE_CACHE: cache } }));
  const cold = entrants.map((entrant) => ({ entrant, env: { NODE_DISABLE_COMPILE_CACHE: "1" } }));
  const runs = Object.fromEntries([
    ...warm.map((each) => [`${each.entrant}, cache warm`, each] as const),
    ...cold.map((each) => [`${each.entrant}, no cache`, each] as const),
  ]);
  // Twice: the cache is written when a process ends, and read from the second start on.
  const warmUps = options.quick ? 0 : 2;
  for (let i = 0; i < warmUps; i += 1)
    for (const { entrant, env } of warm) await start(entrant, env, options);
  const samples = await interleave(Object.keys(runs), options, (name) => {
    const { entrant, env } = runs[name] as (typeof warm)[number];
    return start(entrant, env, options);
  });
  const of = (mode: string, value: (sample: StartupSample) => number) =>
    Object.fromEntries(
      entrants.map((entrant) => [entrant, (samples[`${entrant}, ${mode}`] ?? []).map(value)]),
    ) as Record<Entrant, number[]>;
  const ready = compare(
    of("cache warm", (sample) => sample.readyMs),
    "ms",
    "less is better",
  );
  const without = compare(
    of("no cache", (sample) => sample.readyMs),
    "ms",
    "less is better",
  );
  const idle = of("cache warm", (sample) => sample.idleMiB);
  const over = figure(idle.ours).median - figure(idle.floor).median;
  const list = (values: (entrant: Entrant) => number) =>
    entrants.map((entrant) => `${entrant} ${values(entrant).toFixed(1)}`).join(", ");
  return {
    ...ready,
    notes: [
      `compile cache warm (all three): ${list((entrant) => ready[entrant].median)} ms`,
      `no compile cache (all three):   ${list((entrant) => without[entrant].median)} ms; ${without.vsFloor.median.toFixed(2)} of bare`,
      `idle RSS after 300 ms, cache warm: ${list((entrant) => figure(idle[entrant]).median)} MiB`,
    ],
    checks: [atMost("idle RSS over bare Node, MiB", over, 3)],
  };
}

/** Starts an agent, waits for its answer, then for 300 ms, and ends it by closing its stdin. */
async function start(
  entrant: Entrant,
  env: Readonly<Record<string, string>>,
  { quick }: RunOptions,
): Promise<StartupSample> {
  const path = fileURLToPath(agents[entrant]);
  const started = performance.now();
  // In a hurry nothing was built: then our agent runs from its sources.
  const child = spawn(process.execPath, [...(quick ? ["--conditions=parley-source"] : []), path], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  child.stdin.write(line);
  const answered = new Promise<void>((resolve) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve();
    });
  });
  const early = await Promise.race([answered, ended]);
  if (early !== undefined) throw new Error(`${path} ended with ${early} before it answered initialize`);
  const readyMs = performance.now() - started;
  if (!quick) await sleep(300); // the figure is defined by this time; it stands in for no event
  const idleMiB = rssMiB(child.pid);
  child.stdin.end();
  await ended;
  return { readyMs, idleMiB };
}

function rssMiB(pid: number | undefined): number {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return Number.NaN;
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1]) / 1024;
}
