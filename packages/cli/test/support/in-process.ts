// Runs the command line in this process: with an environment, a directory and output of its own, one run at a time.
// Signals, a terminal, what is piped in and what a process leaves behind need a real start.

import { Readable, Writable } from "node:stream";
import { commandLineModule } from "../../../acp/test/support/programs.ts";

/** What a run left behind. */
export interface Ran {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Both are those of the process, so the next run waits for the end of this one. */
let last: Promise<unknown> = Promise.resolve();

export function runInProcess(
  args: readonly string[],
  given: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ran> {
  const ran = last.then(() => runNow(args, given));
  last = ran.catch(() => undefined);
  return ran;
}

async function runNow(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ran> {
  const { runCommandLine } = (await import(commandLineModule)) as typeof import("../../src/command-line.ts"); // that module, or its bundle
  const [stdout, stderr] = [new Collector(), new Collector()];
  const before = { env: { ...process.env }, cwd: process.cwd(), exit: process.exit };
  const streams = (["stdin", "stdout", "stderr"] as const).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name) ?? {}] as const,
  );
  setEnvironment(env);
  process.chdir(cwd);
  for (const [name, value] of Object.entries({ stdin: Readable.from([]), stdout, stderr }))
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true });
  process.exit = (code) => {
    throw new Error(`parley ended its process with ${code}: this test needs a real start`);
  };
  try {
    const status = await runCommandLine(args);
    return { status, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exit = before.exit;
    for (const [name, descriptor] of streams) Object.defineProperty(process, name, descriptor);
    process.chdir(before.cwd);
    setEnvironment(before.env);
  }
}

function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && process.env[name] !== value) process.env[name] = value;
}

/** Keeps what is written to it. */
class Collector extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
