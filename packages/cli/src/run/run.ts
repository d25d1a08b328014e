// `parley run`: one prompt to an agent, without a user interface. stdout has the conversation, stderr what goes wrong, the
// exit code how it ended.

import type { Invocation } from "../command/command.ts";
import { type RunSecrets, redactingPrinter } from "../printers/redacting-printer.ts";
import { createPrinter } from "./create-printer.ts";
import { type Interrupts, watchInterrupts } from "./interrupts.ts";
import { PromptRun } from "./prompt-run.ts";
import { endingOf, exitCodes } from "./run-ending.ts";
import { type RunOptions, runOptions } from "./run-options.ts";

export async function run(invocation: Invocation): Promise<number> {
  return runPrompt(await runOptions(invocation));
}

/** The exit code. */
export async function runPrompt(options: RunOptions): Promise<number> {
  const started = performance.now();
  const secrets = secretsOf(options);
  const printer = redactingPrinter(createPrinter(options), secrets, {
    redactsEntries: options.format === "json",
  });
  const interrupts = watchInterrupts();
  try {
    const facts = await new PromptRun(options, printer, interrupts, secrets).run();
    // as SIGPIPE would have it, in silence
    if (interrupts.isReaderGone) return 128 + 13;
    const { exitCode, error } = endingOf(facts);
    const durationMs = performance.now() - started;
    if (interrupts.outputError === undefined)
      printer.end({ exitCode, outcome: facts.outcome, refused: facts.refused, error, durationMs });
    await printer.settled();
    const isTimedOut = facts.timedOutMs !== undefined;
    // a reader that does not read cannot keep us either; what it has not read by now, it does not get
    if (!(await written(interrupts, isTimedOut))) process.exit(isTimedOut ? exitCode : exitCodes.cancelled);
    if (interrupts.isReaderGone) return 128 + 13;
    if (interrupts.outputError === undefined) return exitCode;
    process.stderr.write(`parley: cannot write the output: ${interrupts.outputError}\n`);
    return exitCodes.agentError;
  } finally {
    interrupts.dispose();
  }
}

/** Looked up once, when they are needed: while the agent starts there is time for it. */
function secretsOf({ command, mcpServers, env }: RunOptions): RunSecrets {
  let known: Promise<readonly string[]> | undefined;
  return () => {
    known ??= import("../settings/known-secrets.ts").then(({ knownSecrets }) =>
      knownSecrets({ command, mcpServers, env }),
    );
    return known;
  };
}

/** How long a run that was ended waits for whoever reads its output. */
const patienceMs = 1_000;

/** Resolves when all output is written, or could not be; with false when the run is to end and nobody reads it. */
function written(interrupts: Interrupts, isLate: boolean): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let timer: NodeJS.Timeout | undefined;
  const giveUp = () => resolve(false);
  const hurry = () => {
    timer ??= setTimeout(giveUp, patienceMs);
  };
  interrupts.first.addEventListener("abort", hurry);
  interrupts.second.addEventListener("abort", giveUp);
  if (interrupts.first.aborted || isLate) hurry();
  process.stdout.write("", () => resolve(true));
  return promise.finally(() => clearTimeout(timer));
}
