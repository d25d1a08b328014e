// `npm run bench`: runs the benchmarks and prints a table, or JSON.

import { parseArgs } from "node:util";
import { compareTrees, withTree } from "./against.ts";
import { agentCancel } from "./agent/cancel.ts";
import { agentLoad } from "./agent/load.ts";
import { agentOutput } from "./agent/output.ts";
import { agentStartup } from "./agent/startup.ts";
import { appMemoryBenchmarks } from "./app-memory.ts";
import type { Benchmark } from "./benchmark.ts";
import { chatEcho } from "./chat/echo.ts";
import { chatFlood } from "./chat/flood.ts";
import { transcriptScroll } from "./chat/scroll.ts";
import { chatStartup } from "./chat/startup.ts";
import { logAppend, logEnd } from "./log.ts";
import { mcpTool } from "./mcp.ts";
import { memoryBenchmarks } from "./memory.ts";
import { proxyComponent, relayBenchmarks } from "./relay.ts";
import { manyBenchmarks } from "./remote/many.ts";
import { serveStartup } from "./remote/startup.ts";
import { wireBenchmarks } from "./remote/wires.ts";
import { comparedHead, comparedLine, jsonOf, tableHead, tableRows } from "./report.ts";
import { reviewSnapshot } from "./review.ts";
import type { Progress } from "./rounds.ts";
import { runBenchmarks } from "./run-command.ts";
import { sandboxCommand } from "./sandbox.ts";
import { startup } from "./startup.ts";
import { stdioBenchmarks } from "./stdio.ts";
import { tap } from "./tap.ts";

const benchmarks: readonly Benchmark[] = [
  ...stdioBenchmarks,
  ...relayBenchmarks,
  proxyComponent,
  ...memoryBenchmarks,
  ...appMemoryBenchmarks,
  tap,
  startup,
  agentStartup,
  agentCancel,
  agentOutput,
  agentLoad,
  logAppend,
  logEnd,
  ...runBenchmarks,
  sandboxCommand,
  mcpTool,
  ...wireBenchmarks,
  ...manyBenchmarks,
  serveStartup,
  reviewSnapshot,
  transcriptScroll,
  chatStartup,
  chatEcho,
  chatFlood,
];

const help = `usage: npm run bench -- [options]

Compares Parley with the official SDK and with a hand-written floor, and prints a table.

  --only NAME   run this benchmark only; may be repeated
  --rounds N    interleaved rounds, each in fresh processes (default 11)
  --against COMMIT
                compare this tree with a commit instead: each runs its own benchmarks, in turns,
                in a worktree that is installed first and removed afterwards
  --json        print { "NAME": { ours, sdk, floor, unit, vsSdk, vsFloor, ... } } on stdout
  --list        print the names and what they measure
  --quick       tiny sizes: checks that the suite works, says nothing about speed
  --help        print this

Figures are medians with the middle half of the rounds in brackets; ratios are written so that bigger is
better for us. Progress goes to stderr. bench/README.md explains each name.
`;

class UsageError extends Error {}

interface Arguments {
  readonly chosen: readonly Benchmark[];
  readonly rounds: number;
  readonly json: boolean;
  readonly quick: boolean;
  readonly against: string | undefined;
}

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const parsed = parse();
    if (typeof parsed === "string") process.stdout.write(parsed);
    else if (parsed.against === undefined) return await runAll(parsed);
    else return await compareAll(parsed, parsed.against);
    return 0;
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** What to run, or the text to print instead. */
function parse(): Arguments | string {
  const { only, rounds, json, list, quick, against, help: wantsHelp } = options();
  if (wantsHelp) return help;
  if (list) return benchmarks.map(({ name, about }) => `${name.padEnd(15)} ${about}\n`).join("");
  for (const name of only) {
    if (!benchmarks.some((benchmark) => benchmark.name === name)) {
      const known = benchmarks.map((benchmark) => benchmark.name).join(", ");
      throw new UsageError(`--only: there is no benchmark ${JSON.stringify(name)}; known: ${known}`);
    }
  }
  if (!/^[1-9]\d{0,3}$/.test(rounds)) {
    throw new UsageError(`--rounds: wanted a whole number from 1 to 9999, got ${JSON.stringify(rounds)}`);
  }
  const chosen = only.length === 0 ? benchmarks : benchmarks.filter(({ name }) => only.includes(name));
  return { chosen, rounds: Number(rounds), json, quick, against };
}

function options() {
  try {
    return parseArgs({
      options: {
        only: { type: "string", multiple: true, default: [] },
        rounds: { type: "string", default: "11" },
        against: { type: "string" },
        json: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    // parseArgs throws for nothing but bad arguments, and says which.
    throw new UsageError(`${(error as Error).message}\ntry: npm run bench -- --help`);
  }
}

/** One that fails does not keep the others from running; the exit code tells of it. */
async function runAll({ chosen, rounds, json, quick }: Arguments): Promise<number> {
  const results: Record<string, object> = {};
  let failed = 0;
  if (!json) process.stdout.write(`${tableHead()}\n`);
  for (const benchmark of chosen) {
    const result = await tried(benchmark.name, json, (progress) =>
      benchmark.run({ rounds, quick, progress }),
    );
    if (result === undefined) failed += 1;
    else if (json) results[benchmark.name] = jsonOf(result, rounds);
    else process.stdout.write(`${tableRows(benchmark, result)}\n`);
  }
  if (json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
  return failed === 0 ? 0 : 1;
}

async function compareAll({ chosen, rounds, json, quick }: Arguments, commit: string): Promise<number> {
  const results: Record<string, object> = {};
  let failed = 0;
  await withTree(commit, async (trees) => {
    if (!json) process.stdout.write(`${comparedHead()}\n`);
    for (const { name } of chosen) {
      const options = { rounds, quick };
      const result = await tried(name, json, (progress) =>
        compareTrees(trees, name, { ...options, progress }),
      );
      if (result === undefined) failed += 1;
      else if (json) results[name] = result;
      else process.stdout.write(`${comparedLine(result)}\n`);
    }
  });
  if (json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
  return failed === 0 ? 0 : 1;
}

/** Undefined if it fails, which is printed. */
async function tried<Outcome>(
  name: string,
  json: boolean,
  work: (progress: Progress) => Promise<Outcome>,
): Promise<Outcome | undefined> {
  const started = performance.now();
  try {
    const outcome = await work(progressOf(name));
    clearProgress(name, (performance.now() - started) / 1000);
    return outcome;
  } catch (error) {
    process.stderr.write(`${name}: FAILED: ${error instanceof Error ? error.message : String(error)}\n`);
    if (!json) process.stdout.write(`${name.padEnd(15)} FAILED\n`);
    return undefined;
  }
}

/** One line that is rewritten on a terminal; elsewhere one line per tenth of the way. */
function progressOf(name: string): Progress {
  let tenth = -1;
  return (done, total, entrant) => {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[K${name}: ${done + 1}/${total} ${entrant}`);
      return;
    }
    const now = Math.floor((done * 10) / total);
    if (now !== tenth) process.stderr.write(`${name}: ${done + 1}/${total}\n`);
    tenth = now;
  };
}

function clearProgress(name: string, seconds: number): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  else process.stderr.write(`${name}: done in ${seconds.toFixed(1)} s\n`);
}
