// Benchmarks of MCP over ACP: what a call of a client's tool costs an agent.

import { type Benchmark, compare, entrants } from "./benchmark.ts";
import type { McpSample, McpTask } from "./mcp-work.ts";
import { oneCore } from "./one-core.ts";
import { interleave, runProgram } from "./rounds.ts";
import { figure } from "./statistics.ts";

const program = new URL("./mcp-work.ts", import.meta.url);

export const mcpTool: Benchmark = {
  name: "mcp.tool",
  about: "a tool of the client, called over ACP; the floor is MCP over stdio, the third is the bridge",
  // at most 1.5 times
  target: { vsFloor: 0.67 },
  async run(options) {
    // fewer than these, and V8 still compiles in the measured part
    const count = options.quick ? 20 : 20_000;
    // they take turns, and a switch between cores costs more than a call
    const launcher = oneCore();
    const samples = await interleave(entrants, options, async (entrant) => {
      // the bridge is slower by far
      const task: McpTask = { entrant, count: entrant === "sdk" ? count / 10 : count };
      return (await runProgram(program, task, { launcher })) as McpSample; // what mcp-work.ts prints
    });
    const of = (entrant: keyof typeof samples, what: keyof McpSample) =>
      samples[entrant].map((sample) => sample[what]);
    const wall = (entrant: keyof typeof samples) => figure(of(entrant, "wallUs")).median;
    const over = (entrant: keyof typeof samples) => (wall(entrant) / wall("floor")).toFixed(1);
    // two processes that wait for one another: the time on the clock depends on what else the machine does
    const times = { floor: of("floor", "cpuUs"), sdk: of("sdk", "cpuUs"), ours: of("ours", "cpuUs") };
    return {
      ...compare(times, "µs/call", "less is better"),
      notes: [
        `until the answer: floor ${wall("floor").toFixed(0)} µs, over ACP ${over("ours")} times, by the bridge ${over("sdk")} times`,
      ],
    };
  },
};
