// Much to do and much to read: a thousand calls in one turn, then a command that prints 50 MB. The floor is the same
// command with its output read by Node and dropped.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Benchmark, compare } from "../benchmark.ts";
import { interleave, type RunOptions } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { launcher, RawAgent } from "./raw-agent.ts";
import { inWorkplace, type Workplace } from "./workplace.ts";

interface Sample {
  readonly ms: number;
  readonly peakMiB: number;
  readonly callsMs: number;
}

export const agentOutput: Benchmark = {
  name: "agent.output",
  about:
    "a command that prints 50 MB, behind 1,000 tool calls; the floor reads its output from a pipe and drops it",
  // "at most 1.5 times", turned round
  target: { vsFloor: 1 / 1.5 },
  run: (options) => inWorkplace((place) => measure(options, place)),
};

async function measure(options: RunOptions, place: Workplace) {
  const calls = options.quick ? 10 : 1_000;
  const bytes = options.quick ? 100_000 : 50_000_000;
  const command = `yes 'a line as long as those that a compiler prints about a file of the project' | head -c ${bytes}`;
  writeFileSync(join(place.cwd, "a.txt"), "one\ntwo\nthree\n");
  const samples = await interleave(["floor", "ours"] as const, options, (entrant) =>
    entrant === "floor" ? dropped(command, place) : byAgent(command, calls, place),
  );
  const ms = (entrant: "floor" | "ours") => samples[entrant].map((sample) => sample.ms);
  const peak = figure(samples.ours.map(({ peakMiB }) => peakMiB)).median;
  return {
    ...compare({ ours: ms("ours"), floor: ms("floor"), sdk: ms("floor") }, "ms", "less is better"),
    notes: [
      `${calls} calls: ${figure(samples.ours.map(({ callsMs }) => callsMs)).median.toFixed(0)} ms; ${bytes} bytes of output`,
      "the SDK runs no commands: its column repeats the floor",
    ],
    checks: [atMost("peak RSS of the agent, MiB", peak, 200)],
  };
}

async function dropped(command: string, { cwd }: Workplace): Promise<Sample> {
  const started = performance.now();
  const child = spawn("/bin/bash", ["-c", command], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.on("data", () => undefined);
  await new Promise((resolve) => child.once("close", resolve));
  return { ms: performance.now() - started, peakMiB: 0, callsMs: 0 };
}

async function byAgent(command: string, calls: number, place: Workplace): Promise<Sample> {
  let begun = 0;
  let ended = 0;
  const agent = new RawAgent({
    command: [launcher, "agent"],
    ...place,
    onMessage({ id, method, params }) {
      const status = params?.update?.["status"];
      if (status === "in_progress") begun = performance.now();
      if (status === "completed") ended = performance.now();
      if (method === "session/request_permission")
        agent.send({ id, result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
    },
  });
  await agent.handshake();
  const sessionId = await agent.open({ cwd: place.cwd });
  const prompt = (text: string) =>
    agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  const started = performance.now();
  await prompt(`read ${calls} a.txt`);
  const callsMs = performance.now() - started;
  await prompt(`bash ${command}`);
  const sample = { ms: ended - begun, peakMiB: agent.peakMiB(), callsMs };
  await agent.close();
  return sample;
}
