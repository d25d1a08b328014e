// One shell command, from its start to what the model is told of it: in a terminal of the client's, or here.

import { existsSync } from "node:fs";
import type { ExitStatus, TerminalHandle } from "@parley/acp";
import { textPart } from "../base/define-tool.ts";
import type { JobCommand, RunContext, ToolResult } from "../base/tool.ts";
import { type Excerpt, maxBytes, tailOf } from "../base/truncation.ts";
import { CommandOutput } from "./command-output.ts";
import { LiveOutput } from "./live-output.ts";
import { plainOutput } from "./plain-output.ts";

/** What the client keeps of an output; of our own, all goes to a file. */
const clientOutputBytes = 1024 * 1024;
/** More than is told, so that whole lines can be taken of it. */
const tailBytes = maxBytes + 16 * 1024;
/** How long a cancelled call waits for its processes to end; they are ended all the same. */
const cancelMs = 100;
/** How long a client may take to say that a command has ended which it was told to kill. */
const killedMs = 2_000;

/** Where a command is shown, and what it may use. */
export type CommandPlace = Pick<RunContext, "call" | "terminal" | "terminals" | "outputs" | "signal">;

export async function runCommand(context: CommandPlace, command: JobCommand): Promise<ToolResult> {
  context.signal.throwIfAborted();
  return context.terminals.isClient ? runAtClient(context, command) : runHere(context, command);
}

/** The client shows the terminal, live. */
async function runAtClient(context: CommandPlace, command: JobCommand): Promise<ToolResult> {
  const terminal = await context.terminals.create(createOptions(context, command, clientOutputBytes));
  return untilReleased(context, terminal, async () => {
    await context.call.terminal(terminal);
    const ending = await endOf(terminal, command, context.signal);
    const { output, truncated } = await terminal.output();
    const whole = new CommandOutput(context.outputs);
    whole.push(Buffer.from(output));
    whole.close();
    return resultOf({ ...ending, output, whole, isDropped: truncated });
  });
}

/** We show what we read. `begun` is told when it runs. */
export async function runHere(
  context: CommandPlace,
  command: JobCommand,
  begun?: (terminal: TerminalHandle) => void,
): Promise<ToolResult> {
  let terminal: TerminalHandle | undefined;
  const display = context.terminal({
    command: command.command,
    cwd: command.cwd,
    // it ends as it would by itself, and the result says how
    onCancel: () => void terminal?.kill().catch(() => undefined),
  });
  const live = new LiveOutput(display);
  const whole = new CommandOutput(context.outputs);
  let status: ExitStatus = {};
  try {
    await context.call.terminal(display);
    const started = await context.terminals.create(createOptions(context, command, tailBytes), (bytes) => {
      whole.push(bytes);
      live.push(bytes);
    });
    terminal = started;
    begun?.(started);
    return await untilReleased(context, started, async () => {
      const ending = await endOf(started, command, context.signal);
      status = ending.status;
      const { output } = await started.output();
      await live.end();
      return resultOf({ ...ending, output, whole, isDropped: false });
    });
  } finally {
    whole.close();
    display.exit(status);
  }
}

function createOptions({ signal }: CommandPlace, { command, cwd }: JobCommand, outputByteLimit: number) {
  const isWindows = process.platform === "win32";
  const shell = isWindows ? "cmd.exe" : existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  return {
    command: shell,
    args: isWindows ? ["/d", "/s", "/c", command] : ["-c", command],
    cwd,
    // nobody can answer a question or page through an output
    env: { CI: "1", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" },
    outputByteLimit,
    signal,
  };
}

/** Whatever happens, nothing of the command is left; a cancelled call does not wait long for that. */
async function untilReleased<Result>(
  { signal }: CommandPlace,
  terminal: TerminalHandle,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    const released = terminal.release();
    // the client has gone, or has let go of it already
    const quiet = released.catch(() => undefined);
    await (signal.aborted ? within(quiet, cancelMs) : quiet);
  }
}

interface Ending {
  readonly status: ExitStatus;
  /** Seconds, where it took too long and was killed. */
  readonly timedOut: number | undefined;
}

async function endOf(
  terminal: TerminalHandle,
  { seconds }: JobCommand,
  signal: AbortSignal,
): Promise<Ending> {
  const exited = terminal.waitForExit();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    const work = async (): Promise<Ending> => {
      const status = await (seconds === undefined ? exited : within(exited, seconds * 1_000));
      if (status !== undefined) return { status, timedOut: undefined };
      const killed = terminal.kill().then(() => exited);
      return { status: (await within(killed, killedMs)) ?? {}, timedOut: seconds };
    };
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    // when it is given up, nobody waits for it any more
    exited.catch(() => undefined);
  }
}

/** Nothing where it takes longer. */
async function within<Result>(work: Promise<Result>, ms: number): Promise<Result | undefined> {
  const enough = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => enough.resolve(undefined), ms);
  try {
    return await Promise.race([work, enough.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface Finished extends Ending {
  /** The end of it, or all. */
  readonly output: string;
  readonly whole: CommandOutput;
  /** The client has not kept the beginning: nobody has it. */
  readonly isDropped: boolean;
}

function resultOf({ status, timedOut, output, whole, isDropped }: Finished): ToolResult {
  const excerpt = tailOf(plainOutput(output));
  const { exitCode, signal } = status;
  const notes: string[] = [];
  const isCut = excerpt.isCut || isDropped || Buffer.byteLength(output) < whole.bytes;
  if (isCut) notes.push(cutNote(excerpt, whole, isDropped));
  if (timedOut !== undefined)
    notes.push(`it took longer than ${timedOut} s and was ended; set timeout for more`);
  else if (exitCode != null) notes.push(`exit code ${exitCode}`);
  else notes.push(`ended by ${signal ?? "a signal"}`);
  const told = excerpt.text === "" ? "[no output]" : excerpt.text;
  return {
    content: [textPart(`${told}\n\n${notes.map((note) => `[${note}]`).join("\n")}`)],
    rawOutput: {
      exitCode: exitCode ?? null,
      signal: signal ?? null,
      timedOut: timedOut !== undefined,
      bytes: whole.bytes,
      ...(whole.file === undefined ? {} : { file: whole.file.path }),
    },
  };
}

function cutNote(
  { from, to, text }: Excerpt,
  { lines, bytes, file }: CommandOutput,
  isDropped: boolean,
): string {
  const kept = to - from + 1;
  const what =
    lines !== undefined && lines > kept
      ? `the last ${kept} of ${lines} lines`
      : `the last ${Buffer.byteLength(text)} of ${bytes} bytes`;
  if (isDropped)
    return `${what} that the client has kept${file === undefined ? "" : `; those are in ${file.path}`}`;
  if (file === undefined) return `${what}; the rest was not kept`;
  return `${what}; ${file.isWhole ? "all of it" : "its beginning"} is in ${file.path}`;
}
