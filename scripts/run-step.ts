// Runs one step of the check in a process of its own and says how it went.

import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Step } from "./check-steps.ts";
import { bundleForTests, root } from "./check-steps.ts";

/** How one step went. */
export interface Result {
  readonly step: Step;
  readonly ok: boolean;
  readonly milliseconds: number;
  readonly output: string;
  /** What the test runner counted, over all processes of the step. */
  readonly tests?: TestCount;
  /** Why there was nothing to do. */
  readonly skipped?: string;
}

/** What Node's test runner counted. */
interface TestCount {
  readonly pass: number;
  readonly fail: number;
}

/** A test that fails may leave something that keeps its process alive. Then the process is ended after this time. */
const longestRunMs = 20 * 60_000;

/** The one run of scripts/bundle-for-tests.ts that all steps share. */
let bundling: ReturnType<typeof runNode> | undefined;

/**
 * The agent asks the login shell for PATH. The start files of whoever runs the tests can take seconds, and a minute where
 * a version manager waits for a lock.
 */
const noStartFiles: NodeJS.ProcessEnv = process.platform === "win32" ? {} : { SHELL: "/bin/sh" };

/** Runs the commands of a step, all at once; what they say is kept apart. */
export async function runStep(
  step: Step,
  options: {
    environment: NodeJS.ProcessEnv;
    live: boolean;
    limitMs?: number;
    /** Resolves when no other step runs. */
    isLast?: Promise<void>;
  },
): Promise<Result> {
  const started = performance.now();
  const finish = (ok: boolean, output: string, more: Pick<Result, "skipped" | "tests"> = {}): Result => ({
    step,
    ok,
    output,
    milliseconds: performance.now() - started,
    ...more,
  });
  const plan = step.plan();
  if ("skip" in plan) return finish(true, "", { skipped: plan.skip });
  if ("problem" in plan) {
    if (options.live) process.stdout.write(`${plan.problem}\n`);
    return finish(false, plan.problem);
  }
  let { environment } = options;
  if (step.usesBundle) {
    bundling ??= runNode(["scripts/bundle-for-tests.ts"], { environment, live: false });
    const bundled = await bundling;
    if (bundled.code !== 0) return finish(false, `${bundled.output}\nthe bundle for tests failed`);
    environment = { ...environment, BUNDLED_PARLEY: bundleForTests };
  }
  // a name this short, because paths of sockets are limited
  const temporary = step.tests ? mkdtempSync(join(tmpdir(), "t-")) : undefined;
  if (temporary !== undefined) {
    // as /tmp is: some tests run as another user
    chmodSync(temporary, 0o1777);
    environment = { ...environment, TMPDIR: temporary, ...noStartFiles };
  }
  let output = "";
  const problems: string[] = [];
  const tests = { pass: 0, fail: 0 };
  const { commands, atOnce = commands.length } = plan;
  const outcomes = await inTurns(commands, { atOnce, isLast: options.isLast }, async (args) => {
    // One alone is shown as it speaks, several each when it has ended.
    const live = options.live && plan.commands.length === 1;
    const outcome = await runNode(args, { ...options, environment, live });
    if (options.live && !live) process.stdout.write(outcome.output);
    return outcome;
  });
  for (const outcome of outcomes) {
    output += outcome.output;
    const counted = countTests(outcome.output);
    tests.pass += counted?.pass ?? 0;
    tests.fail += counted?.fail ?? 0;
    if (outcome.code !== 0) problems.push(`${step.name} ended with ${outcome.code}`);
    // A test that calls process.exit(0) ends the run early and quietly; the missing count gives it away.
    else if (step.tests && counted === undefined) problems.push("the test runner ended without its summary");
  }
  if (temporary !== undefined) problems.push(...leftIn(temporary));
  return finish(problems.length === 0, [output, ...problems].join("\n"), step.tests ? { tests } : {});
}

/** How many more processes run at a time once the other step has ended. */
const moreAtOnce = 2;

/** Works on `atOnce` items at a time, and on more when no other step runs. The results are in the order of the items. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  { atOnce, isLast }: { readonly atOnce: number; readonly isLast: Promise<void> | undefined },
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, worker);
  void isLast?.then(() => workers.push(...Array.from({ length: moreAtOnce }, worker)));
  await Promise.all(workers);
  // waits again, for the workers that were added meanwhile
  await Promise.all(workers);
  return results;
}

/** What the tests left in their temporary folder, which is then removed. */
function leftIn(temporary: string): string[] {
  const left = readdirSync(temporary).filter((name) => name.startsWith("parley"));
  rmSync(temporary, { recursive: true, force: true });
  if (left.length === 0) return [];
  const names = [...new Set(left.map((name) => name.replace(/[^-]*$/, "*")))].join(", ");
  return [
    `the tests left ${left.length} temporary folders: ${names}. What opens one removes it (see at-end.ts)`,
  ];
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
  {
    environment,
    live,
    limitMs = longestRunMs,
  }: { environment: NodeJS.ProcessEnv; live: boolean; limitMs?: number },
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
  const limit = setTimeout(() => {
    const files = args.filter((arg) => arg.endsWith(".ts")).join(" ");
    collect(`\nit did not end within ${limitMs / 1000} s, and was ended: ${files}\n`);
    child.kill("SIGTERM");
  }, limitMs);
  const settle = (code: number | string) => {
    clearTimeout(limit);
    resolve({ code, output });
  };
  child.on("error", (error) => settle(error.message));
  child.on("close", (code, signal) => settle(code ?? `signal ${signal}`));
  return promise;
}
