// Benchmarks in one process: v2 notifications in memory, and validation alone.

import { atLeast, type Benchmark, compare, type Entrant, entrants, type Result } from "./benchmark.ts";
import type { MemorySample, MemoryTask } from "./memory-work.ts";
import { interleave, runProgram } from "./rounds.ts";
import { figure, geometricMean } from "./statistics.ts";
import type { ValidationSample } from "./validation-work.ts";

const toolUpdatePrograms: Readonly<Record<Entrant, URL>> = {
  floor: new URL("./floor/v2-tool-update.ts", import.meta.url),
  sdk: new URL("./sdk/v2-tool-update.ts", import.meta.url),
  ours: new URL("./parley/v2-tool-update.ts", import.meta.url),
};

const validatePrograms = {
  sdk: new URL("./sdk/validate.ts", import.meta.url),
  ours: new URL("./parley/validate.ts", import.meta.url),
} as const;

const v2ToolUpdate: Benchmark = {
  name: "v2.tool-update",
  about: "v2 tool_call_update in one process, in memory: ours through JSON text, the SDK object to object",
  target: { vsSdk: 50 },
  async run(options) {
    const task: MemoryTask = options.quick
      ? { warmUpMs: 5, measureMs: 20 }
      : { warmUpMs: 500, measureMs: 700 };
    const samples = await interleave(
      entrants,
      options,
      // The programs print what memory-work.ts makes.
      (entrant) => runProgram(toolUpdatePrograms[entrant], task) as Promise<MemorySample>,
    );
    const by = (value: (sample: MemorySample) => number): Record<Entrant, number[]> => ({
      floor: samples.floor.map(value),
      sdk: samples.sdk.map(value),
      ours: samples.ours.map(value),
    });
    const cpu = compare(
      by((sample) => sample.cpuMicrosPerMessage),
      "µs",
      "less is better",
    );
    return {
      ...compare(
        by((sample) => 1000 / sample.microsPerMessage),
        "k msg/s",
        "more is better",
      ),
      notes: [
        `CPU per message: ${entrants.map((entrant) => `${entrant} ${cpu[entrant].median.toFixed(2)}`).join(", ")} µs` +
          `; by CPU ${cpu.vsFloor.median.toFixed(2)} of the floor, ${cpu.vsSdk.median.toFixed(1)} x the SDK`,
      ],
    };
  },
};

const validate: Benchmark = {
  name: "validate",
  about: "JSON.parse over validation, geometric mean over 12 kinds of v1 messages",
  // "at most 0.05 of JSON.parse", turned round.
  target: { vsFloor: 20 },
  async run(options) {
    const task = { passMs: options.quick ? 2 : 60 };
    const samples = await interleave(
      ["sdk", "ours"] as const,
      options,
      // The programs print what validation-work.ts makes.
      (entrant) => runProgram(validatePrograms[entrant], task) as Promise<ValidationSample>,
    );
    return validateResult(samples.ours, samples.sdk);
  },
};

function validateResult(ours: readonly ValidationSample[], sdk: readonly ValidationSample[]): Result {
  const mean = (sample: ValidationSample, check: string) =>
    geometricMean(Object.values(sample).map((times) => times[check] ?? Number.NaN));
  const means = (check: string) => ours.map((sample) => mean(sample, check));
  const against = (check: string) =>
    compare(
      { floor: means("parse"), ours: means(check), sdk: sdk.map((sample) => mean(sample, "zod")) },
      "ns/message",
      "less is better",
    );
  const [lenient, strict] = [against("lenient"), against("strict")];
  const perKind = Object.keys(ours[0] ?? {}).map((kind) => {
    const ns = (samples: readonly ValidationSample[], check: string) =>
      figure(samples.map((sample) => sample[kind]?.[check] ?? Number.NaN))
        .median.toFixed(0)
        .padStart(6);
    return `${kind.padEnd(26)} parse ${ns(ours, "parse")}, lenient ${ns(ours, "lenient")}, strict ${ns(ours, "strict")}, zod ${ns(sdk, "zod")} ns`;
  });
  return {
    ...lenient,
    notes: [
      ...perKind,
      `shown: lenient (what we receive), ${(1 / lenient.vsFloor.median).toFixed(3)} of JSON.parse; strict (what we send): ${strict.ours.median.toFixed(0)} ns, ${(1 / strict.vsFloor.median).toFixed(3)}`,
    ],
    checks: [atLeast("JSON.parse over strict validation", strict.vsFloor.median, 20)],
  };
}

export const memoryBenchmarks: readonly Benchmark[] = [v2ToolUpdate, validate];
