// `parley run`: one prompt to an agent, without a user interface. stdout has the conversation, stderr what goes wrong, the
// exit code how it ended.

import type { Invocation } from "../command.ts";
import { watchInterrupts } from "./interrupts.ts";
import { printerFor } from "./printer-for.ts";
import { PromptRun } from "./prompt-run.ts";
import { endingOf, exitCodes } from "./run-ending.ts";
import { type RunOptions, runOptions } from "./run-options.ts";

export async function run(invocation: Invocation): Promise<number> {
  return runPrompt(await runOptions(invocation));
}

/** The exit code. */
export async function runPrompt(options: RunOptions): Promise<number> {
  const started = performance.now();
  const printer = printerFor(options);
  const interrupts = watchInterrupts();
  try {
    const facts = await new PromptRun(options, printer, interrupts).run();
    // as SIGPIPE would have it, in silence
    if (interrupts.isReaderGone) return 128 + 13;
    const { exitCode, error } = endingOf(facts);
    const durationMs = performance.now() - started;
    if (interrupts.outputError === undefined)
      printer.end({ exitCode, outcome: facts.outcome, error, durationMs });
    // when it is written, or could not be
    await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
    if (interrupts.outputError === undefined) return exitCode;
    process.stderr.write(`parley: the output cannot be written: ${interrupts.outputError}\n`);
    return exitCodes.agentError;
  } finally {
    interrupts.dispose();
  }
}
