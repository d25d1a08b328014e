// Runs interleaved rounds: every program once per round, in fresh processes and rotating order.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Called before each run; `done` of `total` runs are over. */
export type Progress = (done: number, total: number, entrant: string) => void;

export interface RunOptions {
  readonly rounds: number;
  /** Tiny sizes: checks that the suite works, says nothing about speed. */
  readonly quick: boolean;
  readonly progress: Progress;
}

/** Runs every entrant `rounds` times; `run` makes one sample. */
export async function interleave<Name extends string, Sample>(
  entrants: readonly Name[],
  { rounds, progress }: RunOptions,
  run: (entrant: Name) => Promise<Sample>,
): Promise<Record<Name, Sample[]>> {
  const samples = Object.fromEntries(entrants.map((name) => [name, [] as Sample[]])) as Record<
    Name,
    Sample[]
  >;
  for (let round = 0; round < rounds; round += 1) {
    for (let i = 0; i < entrants.length; i += 1) {
      // In range by construction.
      const entrant = entrants[(i + round) % entrants.length] as Name;
      progress(round * entrants.length + i, rounds * entrants.length, entrant);
      samples[entrant].push(await run(entrant));
    }
  }
  return samples;
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A command that starts the program, such as `taskset`. Default: none. */
  readonly launcher?: readonly string[];
}

/** Runs a program in a fresh Node, hands it `task` as JSON, and reads the sample that it prints. */
export async function runProgram(file: URL, task: object, options: ProgramOptions = {}): Promise<unknown> {
  const path = fileURLToPath(file);
  const node = [process.execPath, "--conditions=parley-source", "--disable-warning=ExperimentalWarning"];
  const command = [...(options.launcher ?? []), ...node, path, JSON.stringify(task)];
  return JSON.parse(await outputOf(command, { env: { ...process.env, ...options.env } }));
}

/** Runs a command and returns what it prints. Throws with its errors when it fails. */
export async function outputOf(
  [program = "", ...args]: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on("error", reject).on("close", (status, signal) => resolve(status ?? signal ?? "?"));
  });
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}:\n${errors}`);
  return output;
}
