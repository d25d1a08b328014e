// Benchmark of the full-screen transcript: it must not wait for what is not on the screen.

import type { TranscriptSample, TranscriptTask } from "../../packages/cli/test/support/transcript-work.ts";
import { atMost, type Benchmark, compare, entrants } from "../benchmark.ts";
import { interleave, runProgram } from "../rounds.ts";
import { figure } from "../statistics.ts";

const program = new URL("../../packages/cli/test/support/transcript-work.ts", import.meta.url);

export const transcriptScroll: Benchmark = {
  name: "chat.scroll",
  about:
    "the longest wait for a key in a transcript of 100,000 lines; the floor has 1,000, the third draws all",
  target: {},
  async run(options) {
    const lines = options.quick ? 2_000 : 100_000;
    const samples = await interleave(entrants, options, async (entrant) => {
      const task: TranscriptTask = { entrant, lines };
      return (await runProgram(program, task)) as TranscriptSample; // what transcript-work.ts prints
    });
    const times = { floor: longest(samples.floor), sdk: longest(samples.sdk), ours: longest(samples.ours) };
    return {
      ...compare(times, "ms", "less is better"),
      notes: [],
      checks: options.quick ? [] : [atMost("ms for a key", figure(times.ours).median, 50)],
    };
  },
};

function longest(samples: readonly TranscriptSample[]): number[] {
  return samples.map(({ longestMs }) => longestMs);
}
