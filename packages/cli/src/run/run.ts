// `parley run`: sends one prompt to an agent and prints its output.

import { optional } from "@parley/acp/jsonrpc";
import type { Invocation } from "../command/command.ts";
import { marksFor } from "../draw/marks.ts";
import { exitCodes } from "../live/live-error.ts";
import { secretsOf } from "../live/live-options.ts";
import { bufferedOutput, StatusLine } from "../printers/output.ts";
import { jsonPrinter, quietPrinter } from "../printers/plain-printers.ts";
import { type RunPrinter, redactingPrinter } from "../printers/run-printer.ts";
import { TextPrinter } from "../printers/text-printer.ts";
import { painter } from "../terminal/paint.ts";
import { messageLines } from "../terminal/sanitise.ts";
import { columnsOf } from "../terminal/wrap-line.ts";
import { type Interrupts, watchInterrupts } from "./interrupts.ts";
import { PromptRun } from "./prompt-run.ts";
import { endingOf } from "./run-ending.ts";
import { type RunOptions, runOptions } from "./run-options.ts";

export async function run(invocation: Invocation): Promise<number> {
  return runPrompt(await runOptions(invocation));
}

/** Returns the exit code. */
export async function runPrompt(options: RunOptions): Promise<number> {
  const started = performance.now();
  const secrets = secretsOf(options);
  const printer = redactingPrinter(createPrinter(options), secrets, {
    redactsEntries: options.format === "json",
  });
  const interrupts = watchInterrupts();
  try {
    const facts = await new PromptRun(options, printer, interrupts, secrets).run();
    // like a process killed by SIGPIPE
    if (interrupts.isReaderGone) return 128 + 13;
    const { exitCode, error } = endingOf(facts);
    const durationMs = performance.now() - started;
    if (interrupts.outputError === undefined)
      printer.end({ exitCode, outcome: facts.outcome, refused: facts.refused, error, durationMs });
    await printer.settled();
    const isTimedOut = facts.timedOutMs !== undefined;
    // a blocked reader loses the rest
    if (!(await written(interrupts, isTimedOut))) process.exit(isTimedOut ? exitCode : exitCodes.cancelled);
    if (interrupts.isReaderGone) return 128 + 13;
    if (interrupts.outputError === undefined) return exitCode;
    process.stderr.write(`parley: cannot write the output: ${interrupts.outputError}\n`);
    return exitCodes.agentError;
  } finally {
    interrupts.dispose();
  }
}

/** How long an interrupted run waits for the reader of its output. */
const drainMs = 1_000;

/** Resolves when all output is written or failed; with false if the run must end and nobody reads. */
function written(interrupts: Interrupts, isLate: boolean): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let timer: NodeJS.Timeout | undefined;
  const giveUp = () => resolve(false);
  const hurry = () => {
    timer ??= setTimeout(giveUp, drainMs);
  };
  interrupts.first.addEventListener("abort", hurry);
  interrupts.second.addEventListener("abort", giveUp);
  if (interrupts.first.aborted || isLate) hurry();
  process.stdout.write("", () => resolve(true));
  return promise.finally(() => clearTimeout(timer));
}

export function createPrinter({
  format,
  cwd,
  frontWords,
}: Pick<RunOptions, "format" | "cwd" | "frontWords">): RunPrinter {
  const { stdout, stderr } = process;
  const warn = (text: string) => void stderr.write(messageLines(text, columnsOf(stderr)));
  if (format === "json") return jsonPrinter(bufferedOutput(stdout));
  if (format === "quiet") return quietPrinter(bufferedOutput(stdout), warn, stdout.isTTY === true);
  // a dumb terminal cannot redraw a line
  const isDrawable = stderr.isTTY === true && stdout.isTTY === true && process.env["TERM"] !== "dumb";
  const line = isDrawable ? new StatusLine(stderr) : undefined;
  const output = bufferedOutput(stdout, () => line?.clear());
  const status = (text: string | undefined) => {
    if (text === undefined) return line?.clear();
    output.flush();
    line?.draw(text);
  };
  return new TextPrinter({
    output,
    paint: painter(stdout.isTTY === true),
    warn,
    cwd,
    ...optional({
      // programs and files get the same bytes everywhere
      marks: stdout.isTTY === true ? marksFor(process.env) : undefined,
      columns: stdout.isTTY === true ? () => columnsOf(stdout) : undefined,
      status: line && status,
      again: frontWords,
    }),
  });
}
