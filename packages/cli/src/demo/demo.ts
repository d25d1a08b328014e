// `parley demo`, which `npm start` runs: shows Parley's own agent at work, offline, in a temporary folder.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Invocation } from "../command/command.ts";
import { exitCodes } from "../live/live-error.ts";
import { runPrompt } from "../run/run.ts";
import { type RunOptions, runOptions } from "../run/run-options.ts";
import { commandToType, launcher } from "../settings/installation.ts";
import { columnsOf, wrapLines } from "../terminal/wrap-line.ts";

const prompt = 'read notes.txt, then replace "bread" with "two loaves of bread" in notes.txt';
const files = {
  "notes.txt": "Shopping\n\n- milk\n- bread\n- a bicycle bell\n",
  "README.md": "# A small project\n\nIt has notes, and nothing else.\n",
};

export async function run(invocation: Invocation): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "parley-demo-"));
  try {
    const cwd = join(folder, "project");
    await mkdir(cwd);
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
    const options = {
      ...(await runOptions(invocation)),
      // our own agent, even if the config prefers another or replaces `parley`
      agent: undefined,
      command: [launcher, "agent"],
      cwd,
      isCwdGiven: true,
      keepsHistory: false,
    };
    return process.stdin.isTTY && process.stdout.isTTY && !invocation.json
      ? await converseHere(options)
      : await runFixedPrompt(options, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One complete turn, independent of the user's settings. */
async function runFixedPrompt(options: RunOptions, folder: string): Promise<number> {
  const print = (text: string) => {
    if (options.format === "text") process.stdout.write(`${text}\n`);
  };
  print(`An agent at work, offline, in a temporary folder.\n\n> ${prompt}\n`);
  const exitCode = await runPrompt({
    ...options,
    prompt: { words: [prompt], files: [], isAlone: true },
    mode: "code",
    env: { PARLEY_HOME: join(folder, "home"), PARLEY_MODEL: "offline" },
  });
  if (exitCode === exitCodes.ok) print(`\n${nextSteps()}`);
  return exitCode;
}

function nextSteps(): string {
  const parley = commandToType();
  return `Next, in a project of your own:

  # a conversation
  ${parley}
  # one prompt, printed as it goes
  ${parley} run "read README.md"
  # any other agent that is installed
  ${parley} run -a claude "fix it"
  # the same agent in an editor
  ${parley} agent --setup zed
  # the same agent for other machines and web pages
  ${parley} serve
  # record the messages between a client and an agent
  ${parley} tap -- COMMAND
  # all commands
  ${parley} --help`;
}

/** A conversation that leaves nothing behind. */
async function converseHere(options: RunOptions): Promise<number> {
  const welcome = `A temporary folder with ${Object.keys(files).join(" and ")}. Type a command, for example:

  read notes.txt
  replace bread with cake in notes.txt, then run cat notes.txt

`;
  process.stdout.write(wrapLines(welcome, columnsOf(process.stdout), ""));
  const { converse } = await import("../chat/chat.ts");
  const exitCode = await converse(options, { prompt: "", isPlain: false });
  process.stdout.write(`\n${nextSteps()}\n`);
  return exitCode;
}
