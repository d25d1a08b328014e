// Runs one step of the check in a process of its own and says how it went.

import { spawn } from "node:child_process";
import type { Step } from "./check-steps.ts";
import { root } from "./check-steps.ts";

/** How one step went. */
export interface Result {
  readonly step: Step;
  readonly ok: boolean;
  readonly milliseconds: number;
  readonly output: string;
  /** Why there was nothing to do. */
  readonly skipped?: string;
}

/** What Node's test runner counted. */
export interface TestCount {
  readonly pass: number;
  readonly fail: number;
}

/** Runs the commands of a step one after the other, up to the first that fails. */
export async function runStep(
  step: Step,
  options: { environment: NodeJS.ProcessEnv; live: boolean },
): Promise<Result> {
  const started = performance.now();
  const finish = (ok: boolean, output: string, skipped?: string): Result => ({
    step,
    ok,
    output,
    milliseconds: performance.now() - started,
    ...(skipped === undefined ? {} : { skipped }),
  });
  const plan = step.plan();
  if ("skip" in plan) return finish(true, "", plan.skip);
  if ("problem" in plan) {
    if (options.live) process.stdout.write(`${plan.problem}\n`);
    return finish(false, plan.problem);
  }
  let output = "";
  for (const args of plan.commands) {
    const outcome = await runNode(args, options);
    output += outcome.output;
    if (outcome.code !== 0) return finish(false, `${output}\n${step.name} ended with ${outcome.code}`);
  }
  // A test that calls process.exit(0) ends the run early and quietly; the missing count gives it away.
  if (step.tests && countTests(output) === undefined) {
    return finish(false, `${output}\nthe test runner ended without its summary`);
  }
  return finish(true, output);
}

/** Reads the closing lines of Node's test runner. Undefined: there are none. */
export function countTests(output: string): TestCount | undefined {
  const pass = lastNumber(output, /^(?:ℹ|#) pass (\d+)$/gm);
  const fail = lastNumber(output, /^(?:ℹ|#) fail (\d+)$/gm);
  const cancelled = lastNumber(output, /^(?:ℹ|#) cancelled (\d+)$/gm) ?? 0;
  if (pass === undefined || fail === undefined) return undefined;
  return { pass, fail: fail + cancelled };
}

function lastNumber(text: string, pattern: RegExp): number | undefined {
  const match = [...text.matchAll(pattern)].at(-1);
  return match === undefined ? undefined : Number(match[1]);
}

function runNode(
  args: readonly string[],
  { environment, live }: { environment: NodeJS.ProcessEnv; live: boolean },
): Promise<{ code: number | string; output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number | string; output: string }>();
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const collect = (chunk: string) => {
    output += chunk;
    if (live) process.stdout.write(chunk);
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  child.on("error", (error) => resolve({ code: error.message, output }));
  child.on("close", (code, signal) => resolve({ code: code ?? `signal ${signal}`, output }));
  return promise;
}
