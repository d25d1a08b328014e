// The one runner behind `npm test`, `npm run check` and `npm run test:unit`.
//
//   npm run check                     every step, two at a time
//   npm run check -- lint types       only these steps
//   npm run check -- unit jsonrpc     tests of files whose path contains "jsonrpc"
//   npm run check -- unit --test-name-pattern=cancel    options go to Node's test runner

import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { parseSteps, root, type Step, steps } from "./check-steps.ts";
import { type Result, runStep } from "./run-step.ts";

const request = parseSteps(process.argv.slice(2));
if ("problem" in request) {
  process.stderr.write(
    `check: ${request.problem}\ncheck: steps are ${steps.map((step) => step.name).join(", ")}\n`,
  );
  process.exit(2);
}

const started = performance.now();
const environment = {
  ...process.env,
  // Typed in a shell, PATH has the machine's own Node in front; what the steps start must get ours.
  PATH: [join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter),
  NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"),
};

const results =
  request.steps.length === 1 ? [await runAlone(request.steps[0] as Step)] : await runAll(request.steps);
report(results);

/** With one step there is nothing to interleave: its output is shown as it comes. */
async function runAlone(step: Step): Promise<Result> {
  return runStep(step, { environment, live: true });
}

async function runAll(selected: readonly Step[]): Promise<Result[]> {
  const queue = [...selected];
  const finished: Result[] = [];
  const { promise: isLast, resolve } = Promise.withResolvers<void>();
  const worker = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
      const result = await runStep(step, { environment, live: false, isLast });
      printResult(result);
      finished.push(result);
      if (finished.length === selected.length - 1) resolve();
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  return finished;
}

function printResult(result: Result): void {
  const mark = result.skipped === undefined ? (result.ok ? "pass" : "FAIL") : "skip";
  const note = result.skipped ?? (result.tests === undefined ? "" : `${result.tests.pass} tests`);
  const seconds = `${(result.milliseconds / 1000).toFixed(1)} s`;
  process.stdout.write(`${mark}  ${result.step.name.padEnd(10)} ${seconds.padStart(7)}  ${note}\n`);
  if (result.ok) return;
  const indented = result.output.trimEnd().replaceAll(/^/gm, "    ");
  process.stdout.write(`${indented}\n      alone: npm run check -- ${result.step.name}\n`);
  if (result.step.fix !== undefined) process.stdout.write(`      to fix: ${result.step.fix}\n`);
}

function report(all: readonly Result[]): void {
  let passed = 0;
  let failed = 0;
  for (const result of all) {
    passed += result.tests?.pass ?? 0;
    // A step without tests, or one that broke outside of them, counts as one failure.
    failed += result.ok ? 0 : Math.max(1, result.tests?.fail ?? 0);
  }
  const broken = all.filter((result) => !result.ok).map((result) => result.step.name);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const summary = broken.length === 0 ? `all of ${all.length}` : `failed: ${broken.sort().join(", ")}`;
  process.stdout.write(`\nsteps: ${summary}, in ${seconds} s\n${passed} passed, ${failed} failed\n`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}
