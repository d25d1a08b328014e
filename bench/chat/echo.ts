// Benchmark of typing into `parley chat` while its agent streams: from a key to the frame that shows it.

import { setTimeout } from "node:timers/promises";
import { atMost, type Benchmark, compare } from "../benchmark.ts";
import { interleave } from "../rounds.ts";
import { figure, quantile } from "../statistics.ts";
import { echoPrompt, ending, floodAgent, inFolder, parleyChat } from "./place.ts";
import { inTerminal, type TerminalProgram } from "./terminal.ts";

const bytesPerSecond = 5_000_000;
/** The average of the agent's updates. */
const updateBytes = 209;
/** No word of the agent contains two of them. */
const letters = "qzxjvk";
const clear = "\u0015";
/** The first second compiles what draws, and is not counted. */
const warmUpMs = 1_000;

/** The milliseconds of each key. */
async function typed(terminal: TerminalProgram, ms: number): Promise<number[]> {
  const latencies: number[] = [];
  const started = performance.now();
  let text = "";
  for (let count = 0; performance.now() - started < ms; count += 1) {
    if (text.length === 30) {
      terminal.type(clear);
      await setTimeout(100);
      text = "";
    }
    text += letters.at((count * 7 + text.length) % letters.length);
    const at = performance.now();
    const shown = terminal.shows(text);
    terminal.type(text.slice(-1));
    const latency = (await shown) - at;
    if (at - started > Math.min(warmUpMs, ms / 2)) latencies.push(latency);
    await setTimeout(15 + (count % 17));
  }
  terminal.type(clear);
  await setTimeout(50);
  return latencies;
}

export const chatEcho: Benchmark = {
  name: "chat.echo",
  about:
    "99 of 100 keys are shown within this time while 5 MB/s stream in; the floor is a prompt that echoes",
  target: {},
  run: (options) =>
    inFolder(options, async (folder) => {
      const ms = options.quick ? 1_000 : 15_000;
      const env = {
        PARLEY_BENCH_RATE: String(bytesPerSecond),
        PARLEY_BENCH_UPDATES: String(Math.round(((ms / 1000 + 2) * bytesPerSecond) / updateBytes)),
      };
      const bare = [echoPrompt];
      const chat = parleyChat(options, floodAgent);
      const type = async (name: "floor" | "sdk" | "ours") => {
        const terminal = inTerminal(name === "floor" ? bare : chat, folder, env);
        const isReady = terminal.shows(name === "floor" ? "write" : "for help");
        return ending(terminal, async () => {
          await isReady;
          if (name === "ours") {
            terminal.type("go\r");
            await terminal.shows("What I found");
          }
          return typed(terminal, ms);
        });
      };
      const keys = await interleave(["floor", "sdk", "ours"], options, type);
      const at = (q: number) => ({
        floor: keys.floor.map((each) => quantile(each, q)),
        sdk: keys.sdk.map((each) => quantile(each, q)),
        ours: keys.ours.map((each) => quantile(each, q)),
      });
      const p99 = at(0.99);
      const medians = at(0.5);
      const median = (name: "floor" | "sdk" | "ours") => figure(medians[name]).median.toFixed(1);
      return {
        ...compare(p99, "ms", "less is better"),
        notes: [
          `the median key: floor ${median("floor")}, parley chat without a turn (the sdk column) ${median("sdk")}, while 5 MB/s stream in ${median("ours")} ms`,
        ],
        checks: options.quick ? [] : [atMost("ms, p99", figure(p99.ours).median, 16)],
      };
    }),
};
