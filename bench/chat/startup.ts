// Benchmark of the start of `parley chat`: until its prompt can be written to.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atMost, type Benchmark, compare } from "../benchmark.ts";
import { interleave } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { echoPrompt, ending, inFolder, parleyChat } from "./place.ts";
import { inTerminal } from "./terminal.ts";

const agent = fileURLToPath(new URL("../floor/instant-agent.mjs", import.meta.url));

export const chatStartup: Benchmark = {
  name: "chat.startup",
  about: "parley chat in a terminal, from its start to its prompt; the floor is a bare hello-world in Node",
  target: {},
  run: (options) =>
    inFolder(options, async (folder) => {
      const hello = join(folder, "hello.mjs");
      writeFileSync(hello, 'console.log("hello, write");\n');
      const starts = {
        floor: [hello],
        sdk: [echoPrompt],
        ours: parleyChat(options, agent),
      };
      const start = async (name: keyof typeof starts) => {
        const terminal = inTerminal(starts[name], folder);
        const shown = terminal.shows("write");
        return ending(terminal, async () => (await shown) - terminal.startedAt);
      };
      const names = ["floor", "sdk", "ours"] as const;
      // twice: the cache is written when a process ends, and read from the second start on
      if (!options.quick) for (const name of [...names, ...names]) await start(name);
      const times = await interleave(names, options, start);
      const over = figure(times.ours).median - figure(times.floor).median;
      return {
        ...compare(times, "ms", "less is better"),
        notes: ["the sdk column is a prompt in raw mode that only echoes"],
        checks: [atMost("ms over a bare hello-world", over, 250)],
      };
    }),
};
