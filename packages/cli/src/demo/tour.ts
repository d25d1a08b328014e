// `parley tour`, which is what `npm start` runs: one whole turn of our own agent, offline, in a folder that is thrown away.
// At a terminal it asks what to do instead.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Invocation } from "../command/command.ts";
import { runPrompt } from "../run/run.ts";
import { exitCodes } from "../run/run-ending.ts";
import { type RunOptions, runOptions } from "../run/run-options.ts";
import { launcher } from "../settings/installation.ts";

const prompt = 'read notes.txt, then replace "bread" with "two loaves of bread" in notes.txt';
const files = {
  "notes.txt": "Shopping\n\n- milk\n- bread\n- a bicycle bell\n",
  "README.md": "# A small project\n\nIt has notes, and nothing else.\n",
};

export async function run(invocation: Invocation): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "parley-tour-"));
  try {
    const cwd = join(folder, "project");
    await prepare(cwd);
    const options = {
      ...(await runOptions(invocation)),
      // ours, whatever the config prefers or calls by its name
      agent: undefined,
      command: [launcher, "agent"],
      cwd,
      isCwdGiven: true,
      keepsHistory: false,
    };
    return process.stdin.isTTY && process.stdout.isTTY && !invocation.json
      ? await asked(options)
      : await shown(options, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(cwd: string): Promise<void> {
  const { mkdir } = await import("node:fs/promises");
  await mkdir(cwd);
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
}

/** Nothing of it is kept: not even by the agent. */
async function shown(options: RunOptions, folder: string): Promise<number> {
  const say = (text: string) => {
    if (options.format === "text") process.stdout.write(`${text}\n`);
  };
  say(`An agent at work, offline, in a folder that is thrown away afterwards.\n\n> ${prompt}\n`);
  const exitCode = await runPrompt({
    ...options,
    prompt: { words: [prompt], files: [], isAlone: true },
    mode: "code",
    env: { PARLEY_HOME: join(folder, "home"), PARLEY_MODEL: "offline" },
  });
  say(`\nThat was parley run. ${further}`);
  return exitCode;
}

const further = `In a project of your own:

  parley run "look around"       one prompt, printed as it goes; parley help run
  parley run -a claude "fix it"  any other agent, where it is installed
  parley agent --setup zed       the same agent inside an editor
  parley demo                    the messages between a client and an agent
  parley --help                  everything else

In a clone, parley is packages/cli/bin/parley, or npx parley. README.md goes on
from here.`;

async function asked(options: RunOptions): Promise<number> {
  process.stdout.write(
    `A folder to try things in, thrown away afterwards: ${Object.keys(files).join(", ")}.
Ask for one thing; the tour ends with it. Such as: look around; read notes.txt;
replace "bread" with "cake" in notes.txt; run ls -l
`,
  );
  const { createInterface } = await import("node:readline/promises");
  const input = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<undefined>((resolve) => input.once("close", () => resolve(undefined)));
  let isInterrupted = false;
  input.once("SIGINT", () => {
    isInterrupted = true;
    input.close();
  });
  const answer = await Promise.race([input.question("> ").catch(() => undefined), closed]);
  input.close();
  // Ctrl-C or Ctrl-D: what follows gets a line of its own
  if (answer === undefined) process.stdout.write("\n");
  if (isInterrupted) return exitCodes.cancelled;
  const isAsked = answer !== undefined && answer.trim() !== "";
  const exitCode = isAsked
    ? await runPrompt({ ...options, prompt: { words: [answer], files: [], isAlone: true } })
    : 0;
  process.stdout.write(`\nThat was the tour. ${further}\n`);
  return exitCode;
}
