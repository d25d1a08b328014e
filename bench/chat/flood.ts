// Benchmark of long turns in `parley chat`, as fast as it can take them: time and memory, also of other clients.

import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { atMost, type Benchmark, compare } from "../benchmark.ts";
import { interleave, type RunOptions } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { acpx, acpxClient, gooseClient, gooseTui, hasOthers, type OtherClient } from "./others.ts";
import { floodAgent, inFolder, leave, parleyChat } from "./place.ts";
import { inTerminal, type TerminalProgram } from "./terminal.ts";

const floorClient = fileURLToPath(new URL("../floor/prompt-client.mjs", import.meta.url));
const sdkClient = fileURLToPath(new URL("../sdk/prompt-client.mjs", import.meta.url));

/** The average of the agent's updates. */
const updateBytes = 209;
/** A minute at 5 MB/s. */
const minuteBytes = 300_000_000;
/** goose-tui takes minutes for more. */
const gooseUpdates = 2_000;

interface Sample {
  readonly wallMs: number;
  readonly peakMiB: number;
}

/** Types a prompt and waits for the end of its turn; none for a client that does so by itself. */
type Talk = (terminal: TerminalProgram) => Promise<void>;

const talkToChat: Talk = async (terminal) => {
  await terminal.shows("for help");
  terminal.type("go\r");
  // the hint of the prompt, after the turn
  await terminal.shows("Enter queues");
  await terminal.shows("for help");
};

const talkToGoose: Talk = async (terminal) => {
  await terminal.shows("ready");
  // its prompt takes no keys before it is drawn
  await setTimeout(500);
  terminal.type("go");
  await setTimeout(100);
  terminal.type("\r");
  await terminal.shows("What I found");
  await terminal.shows("ready");
};

/** From its start to the end of the turn. */
async function sample(
  { argv, env }: OtherClient,
  folder: string,
  updates: number,
  talk?: Talk,
): Promise<Sample> {
  const terminal = inTerminal(argv, folder, {
    PARLEY_BENCH_UPDATES: String(updates),
    HOME: folder,
    ...env,
  });
  let peakMiB = 0;
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, terminal.peakMiB());
  }, 50);
  try {
    await talk?.(terminal);
    let wallMs = performance.now() - terminal.startedAt;
    peakMiB = Math.max(peakMiB, terminal.peakMiB());
    if (talk === talkToGoose) return { wallMs, peakMiB };
    if (talk !== undefined) terminal.type(leave);
    const code = await terminal.ended;
    if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}`);
    if (talk === undefined) wallMs = performance.now() - terminal.startedAt;
    return { wallMs, peakMiB };
  } finally {
    clearInterval(watch);
    terminal.kill();
    // the folder goes away after it
    await terminal.ended;
  }
}

/** One turn of goose-tui, and of ours with as many updates. */
async function gooseNote(ours: OtherClient, folder: string): Promise<string> {
  const theirs = await sample(gooseClient(folder), folder, gooseUpdates, talkToGoose);
  const mine = await sample(ours, folder, gooseUpdates, talkToChat);
  const text = ({ wallMs, peakMiB }: Sample) => `${wallMs.toFixed(0)} ms, peak RSS ${peakMiB.toFixed(0)} MiB`;
  return `${gooseTui} with ${gooseUpdates} updates: ${text(theirs)}; ours: ${text(mine)}`;
}

export const chatFlood: Benchmark = {
  name: "chat.flood",
  about: "100,000 updates of a turn in a terminal, start to end; the floor prints their text and no more",
  target: {},
  run: (options: RunOptions) =>
    inFolder(options, async (folder) => {
      const updates = options.quick ? 1_000 : 100_000;
      const chat = { argv: parleyChat(options, floodAgent) };
      const starts: Record<string, OtherClient> = {
        floor: { argv: [floorClient, floodAgent] },
        sdk: { argv: [sdkClient, floodAgent] },
        ours: chat,
        ...(hasOthers() && { acpx: acpxClient(folder) }),
      };
      const samples = await interleave(Object.keys(starts), options, (name) =>
        sample(starts[name] ?? chat, folder, updates, name === "ours" ? talkToChat : undefined),
      );
      const walls = (name: string) => (samples[name] ?? []).map(({ wallMs }) => wallMs);
      const peak = (name: string) => figure((samples[name] ?? []).map(({ peakMiB }) => peakMiB)).median;
      const ours = figure(walls("ours")).median;
      const times = { floor: walls("floor"), sdk: walls("sdk"), ours: walls("ours") };
      const theirs = hasOthers() ? figure(walls("acpx")).median : undefined;
      // one round: it takes as long as all others
      const bytes = options.quick ? 1_000_000 : minuteBytes;
      const minute = await sample(chat, folder, Math.round(bytes / updateBytes), talkToChat);
      const long = `${bytes / 1_000_000} MB in one turn`;
      return {
        ...compare(times, "ms", "less is better"),
        notes: [
          `peak RSS: floor ${peak("floor").toFixed(0)}, SDK ${peak("sdk").toFixed(0)}, ours ${peak("ours").toFixed(0)} MiB`,
          `${long}, a minute at 5 MB/s: ${(minute.wallMs / 1000).toFixed(1)} s, peak RSS ${minute.peakMiB.toFixed(0)} MiB`,
          ...(theirs === undefined
            ? ["acpx and goose-tui run too with PARLEY_OTHERS=1, which fetches them"]
            : [
                `${acpx}: ${theirs.toFixed(0)} ms (ours is ${(theirs / ours).toFixed(2)} x), peak RSS ${peak("acpx").toFixed(0)} MiB`,
                await gooseNote(chat, folder),
              ]),
        ],
        checks: options.quick
          ? []
          : [
              atMost("peak RSS, MiB", peak("ours"), 250),
              atMost(`peak RSS with ${long}, MiB`, minute.peakMiB, 250),
            ],
      };
    }),
};
