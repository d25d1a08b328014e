// Benchmarks of MCP over ACP: what a call of a client's tool costs an agent.

import { type Benchmark, compare, entrants } from "./benchmark.ts";
import type { McpSample, McpTask } from "./mcp-work.ts";
import { interleave, runProgram } from "./rounds.ts";
import { figure } from "./statistics.ts";

const program = new URL("./mcp-work.ts", import.meta.url);

export const mcpTool: Benchmark = {
  name: "mcp.tool",
  about: "a tool of the client, called over ACP; the floor is MCP over stdio, the third is the bridge",
  // at most 1.5 times
  target: { vsFloor: 0.67 },
  async run(options) {
    const count = options.quick ? 20 : 5_000;
    const samples = await interleave(entrants, options, async (entrant) => {
      const task: McpTask = { entrant, count };
      return (await runProgram(program, task)) as McpSample; // what mcp-work.ts prints
    });
    const of = (entrant: keyof typeof samples) => samples[entrant].map(({ callUs }) => callUs);
    const times = { floor: of("floor"), sdk: of("sdk"), ours: of("ours") };
    const bridge = figure(times.sdk).median / figure(times.floor).median;
    return {
      ...compare(times, "µs/call", "less is better"),
      notes: [`the bridge takes ${bridge.toFixed(1)} times as long as MCP over stdio`],
    };
  },
};
