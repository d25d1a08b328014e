// Benchmarks of `parley run`, from the shell to its end.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atMost, type Benchmark, compare, type Entrant, entrants } from "./benchmark.ts";
import { build } from "./build.ts";
import { interleave, type RunOptions } from "./rounds.ts";
import { figure } from "./statistics.ts";

const agent = fileURLToPath(new URL("./floor/instant-agent.mjs", import.meta.url));
const floorClient = fileURLToPath(new URL("./floor/prompt-client.mjs", import.meta.url));
const sdkClient = fileURLToPath(new URL("./sdk/prompt-client.mjs", import.meta.url));
const command = fileURLToPath(new URL("../packages/cli/", import.meta.url));

interface Sample {
  readonly wallMs: number;
  readonly peakMiB: number;
  readonly bytes: number;
}

interface Start {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Everything that is kept is in a folder that goes away. */
async function inFolder<Result>(
  options: RunOptions,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  if (!options.quick) await build();
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-run-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `parley run` with these flags on the instant agent; in a hurry nothing was built, and the sources are run. */
function parleyRun({ quick }: RunOptions, flags: readonly string[] = []): string[] {
  const main = quick
    ? ["--conditions=parley-source", join(command, "src/main.ts")]
    : [join(command, "dist/main.js")];
  return [...main, "run", ...flags, "hello", "--", process.execPath, agent];
}

async function start({ argv, env = {} }: Start, folder: string): Promise<Sample> {
  const started = performance.now();
  const child = spawn(process.execPath, argv, {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: folder,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(folder, "cache"),
      PARLEY_HOME: join(folder, "home"),
      ...env,
    },
  });
  let bytes = 0;
  let peakMiB = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    peakMiB = Math.max(peakMiB, peakOf(child.pid));
  });
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}`);
  return { wallMs: performance.now() - started, peakMiB, bytes };
}

function peakOf(pid: number | undefined): number {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return 0;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1] ?? 0) / 1024;
}

async function sampled(starts: Readonly<Record<string, Start>>, options: RunOptions, folder: string) {
  // three times: the compile cache is read from the second start on, and from the fourth on parley knows that the agent
  // sends no late text
  const warmUps = options.quick ? 0 : 3;
  for (let i = 0; i < warmUps; i += 1) for (const each of Object.values(starts)) await start(each, folder);
  return interleave(Object.keys(starts), options, (name) => start(starts[name] as Start, folder)); // it is one of them
}

const walls = (samples: Readonly<Record<string, readonly Sample[]>>) =>
  Object.fromEntries(
    entrants.map((entrant) => [entrant, (samples[entrant] ?? []).map(({ wallMs }) => wallMs)]),
  ) as Record<Entrant, number[]>;

const startup: Benchmark = {
  name: "run.startup",
  about: "parley run on an instant agent, from its start to its end; the floor is a bare hello-world in Node",
  target: {},
  run: (options) =>
    inFolder(options, async (folder) => {
      const hello = join(folder, "hello.mjs");
      writeFileSync(hello, 'console.log("hello world");\n');
      const starts = {
        floor: { argv: [hello] },
        sdk: { argv: [sdkClient, agent] },
        ours: { argv: parleyRun(options) },
        bare: { argv: [floorClient, agent] },
      };
      const samples = await sampled(starts, options, folder);
      const times = walls(samples);
      const bare = figure((samples["bare"] ?? []).map(({ wallMs }) => wallMs)).median;
      const ms = (entrant: Entrant) => figure(times[entrant]).median;
      return {
        ...compare(times, "ms", "less is better"),
        notes: [
          `hello-world ${ms("floor").toFixed(0)}, a hand-written client ${bare.toFixed(0)}, one on the SDK ${ms("sdk").toFixed(0)}, parley run ${ms("ours").toFixed(0)} ms; it also keeps the session and a log`,
        ],
        checks: [atMost("ms over a bare hello-world", ms("ours") - ms("floor"), 120)],
      };
    }),
};

const updates: Benchmark = {
  name: "run.updates",
  about:
    "100,000 updates through parley run, printed and kept; the floor is a hand-written client that prints them",
  target: {},
  run: (options) =>
    inFolder(options, async (folder) => {
      const count = options.quick ? 1000 : 100_000;
      const env = { PARLEY_BENCH_UPDATES: String(count) };
      const starts = {
        floor: { argv: [floorClient, agent], env },
        sdk: { argv: [sdkClient, agent], env },
        ours: { argv: parleyRun(options), env },
        half: { argv: parleyRun(options), env: { PARLEY_BENCH_UPDATES: String(count / 2) } },
        none: { argv: parleyRun(options), env: { PARLEY_BENCH_UPDATES: "1" } },
      };
      const samples = await sampled(starts, options, folder);
      const median = (name: string, of: (sample: Sample) => number) =>
        figure((samples[name] ?? []).map(of)).median;
      const ms = (name: string) => median(name, ({ wallMs }) => wallMs);
      // the second half of the updates against the first, without what starting costs
      const growth = (ms("ours") - ms("half")) / (ms("half") - ms("none"));
      const peak = median("ours", ({ peakMiB }) => peakMiB);
      return {
        ...compare(walls(samples), "ms", "less is better"),
        notes: [
          `${count} updates: ${ms("ours").toFixed(0)} ms, half of them ${ms("half").toFixed(0)} ms, one ${ms("none").toFixed(0)} ms; peak RSS ${peak.toFixed(0)} MiB`,
        ],
        checks: [
          atMost("cost of the second half of the updates over the first", growth, 1.25),
          atMost("peak RSS, MiB", peak, 250),
        ],
      };
    }),
};

const terminal: Benchmark = {
  name: "run.terminal",
  about:
    "a command that prints 50 MB in a terminal of parley run; the floor is the same command into a plain pipe",
  target: { vsFloor: 0.3 },
  run: (options) =>
    inFolder(options, async (folder) => {
      // 54 MB
      const printed = ["seq", options.quick ? "10000" : "7000000"];
      const pipe = join(folder, "pipe.mjs");
      const lines = [
        'import { spawn } from "node:child_process";',
        `const child = spawn(${JSON.stringify(printed[0])}, ${JSON.stringify(printed.slice(1))}, { stdio: ["ignore", "pipe", "inherit"] });`,
        'child.stdout.on("data", () => undefined);',
      ];
      writeFileSync(pipe, `${lines.join("\n")}\n`);
      const env = { PARLEY_BENCH_RUN: JSON.stringify(printed) };
      const starts = {
        floor: { argv: [pipe] },
        // the SDK has no terminals
        sdk: { argv: [pipe] },
        ours: { argv: parleyRun(options, ["--allow", `exec ${printed.join(" ")}`]), env },
        none: { argv: parleyRun(options) },
      };
      const samples = await sampled(starts, options, folder);
      const idle = figure((samples["none"] ?? []).map(({ wallMs }) => wallMs)).median;
      // what starting costs is run.startup's
      const times = walls(samples);
      const ours = times.ours.map((ms) => Math.max(ms - idle, 1));
      return {
        ...compare({ ...times, ours }, "ms", "less is better"),
        notes: [
          `parley run without the command takes ${idle.toFixed(0)} ms, which is taken off; sdk is the floor again`,
        ],
      };
    }),
};

export const runBenchmarks: readonly Benchmark[] = [startup, updates, terminal];
