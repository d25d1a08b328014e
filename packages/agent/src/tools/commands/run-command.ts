// Runs one shell command in the client's terminal or on this machine, and builds the result for the model.

import type { TerminalHandle } from "@parley/acp";
import { abortable, withTimeout } from "@parley/acp/jsonrpc";
import type { ExitStatus } from "@parley/acp/model";
import { textPart } from "../base/define-tool.ts";
import type { AgentCommand, CommandHolder, JobCommand, RunContext, ToolResult } from "../base/tool.ts";
import { type Excerpt, maxBytes, tailOf } from "../base/truncation.ts";
import { plainOutput, TerminalSnapshot } from "./command-output.ts";
import { LiveOutput } from "./live-output.ts";
import { shellProgram } from "./shell.ts";

/** Output limit for the client's terminal. */
const clientOutputBytes = 1024 * 1024;
/** More than the model gets, so that whole lines can be cut from it. */
const tailBytes = maxBytes + 16 * 1024;
/** How long a cancelled call waits for its processes to end. */
const cancelMs = 100;
/** How long to wait for the exit of a killed command. */
const killedMs = 2_000;

export type CommandContext = Pick<
  RunContext,
  "call" | "terminals" | "outputs" | "signal" | "connect" | "keeps" | "vetoes"
>;

export async function runCommand(context: CommandContext, command: JobCommand): Promise<ToolResult> {
  context.signal.throwIfAborted();
  return context.terminals.isClient ? runAtClient(context, command) : runHere(context, command);
}

/** Runs in the client's terminal, which the client shows live. */
async function runAtClient(context: CommandContext, command: JobCommand): Promise<ToolResult> {
  const terminal = await context.terminals.create(createOptions(context, command, clientOutputBytes));
  return untilReleased(context, terminal, async () => {
    await context.call.add({ type: "terminal", terminalId: terminal.terminalId });
    const ending = await endOf(terminal, command, context.signal);
    const { output, truncated } = await terminal.output();
    const whole = new TerminalSnapshot(context.outputs);
    whole.push(Buffer.from(output));
    whole.close();
    return resultOf({
      ...ending,
      output,
      whole,
      isDropped: truncated,
      holder: { by: "client" },
      notices: [],
    });
  });
}

/** Runs on this machine and streams the output to the client. Calls `onStart` when it runs. */
export async function runHere(
  context: CommandContext,
  command: JobCommand,
  onStart?: (terminal: TerminalHandle) => void,
): Promise<ToolResult> {
  let terminal: TerminalHandle | undefined;
  const display = context.call.terminal({
    command: command.command,
    cwd: command.cwd,
    // the command then ends by itself, and the result says how
    onCancel: () => void terminal?.kill().catch(() => undefined),
  });
  const live = new LiveOutput(display);
  const whole = new TerminalSnapshot(context.outputs);
  let status: ExitStatus = {};
  try {
    const policy = await context.vetoes?.sandboxPolicy(context.signal);
    const options = { ...createOptions(context, command, tailBytes), policy };
    const started = await context.terminals.create(options, (bytes) => {
      whole.push(bytes);
      live.push(bytes);
    });
    terminal = started;
    onStart?.(started);
    return await untilReleased(context, started, async () => {
      const ending = await endOf(started, command, context.signal);
      status = ending.status;
      const { output } = await started.output();
      await live.end();
      const notices = [...context.terminals.takeNotices(), ...(await askAboutMoved(context))];
      for (const notice of notices) await context.call.add(notice);
      const holder: CommandHolder = command.isOutside ? { by: "nobody" } : await context.terminals.holder();
      return resultOf({ ...ending, output, whole, isDropped: false, holder, notices });
    });
  } finally {
    whole.close();
    display.exit(status);
  }
}

/** The user decides at once about all that a command has created and was moved aside. */
async function askAboutMoved({ terminals, keeps }: CommandContext): Promise<readonly string[]> {
  const notices: string[] = [];
  for (const { paths, notice, keep } of terminals.takeMoved()) {
    if (await keeps(paths)) notices.push(`the user accepted ${paths.join(", ")}`, ...keep());
    else notices.push(notice);
  }
  return notices;
}

function createOptions(
  { signal, connect }: CommandContext,
  { command, cwd, isOutside = false }: JobCommand,
  outputByteLimit: number,
): AgentCommand {
  const isWindows = process.platform === "win32";
  return {
    command: shellProgram(),
    args: isWindows ? ["/d", "/s", "/c", command] : ["-c", command],
    cwd,
    // nobody can answer a prompt or use a pager
    env: { CI: "1", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" },
    outputByteLimit,
    signal,
    isOutside,
    askHost: connect,
  };
}

/** Always releases the terminal; a cancelled call does not wait long for it. */
async function untilReleased<Result>(
  { signal }: CommandContext,
  terminal: TerminalHandle,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    // fails when the client is gone or has released it already
    const released = terminal.release().catch(() => undefined);
    await (signal.aborted ? withTimeout(cancelMs, released) : released);
  }
}

interface Ending {
  readonly status: ExitStatus;
  /** The timeout in seconds, if it was exceeded. */
  readonly timedOut: number | undefined;
}

function endOf(terminal: TerminalHandle, { seconds }: JobCommand, signal: AbortSignal): Promise<Ending> {
  const exited = terminal.waitForExit();
  const ending = async (): Promise<Ending> => {
    const status = await (seconds === undefined ? exited : withTimeout(seconds * 1_000, exited));
    if (status !== undefined) return { status, timedOut: undefined };
    const killed = terminal.kill().then(() => exited);
    return { status: (await withTimeout(killedMs, killed)) ?? {}, timedOut: seconds };
  };
  return abortable(signal, ending());
}

interface Finished extends Ending {
  /** All of the output, or its end. */
  readonly output: string;
  readonly whole: TerminalSnapshot;
  /** The client has dropped the beginning. */
  readonly isDropped: boolean;
  readonly holder: CommandHolder;
  readonly notices: readonly string[];
}

function resultOf({ status, timedOut, output, whole, isDropped, holder, notices }: Finished): ToolResult {
  const excerpt = tailOf(plainOutput(output));
  const { exitCode, signal } = status;
  const notes: string[] = [];
  const isCut = excerpt.isCut || isDropped || Buffer.byteLength(output) < whole.bytes;
  if (isCut) notes.push(cutNote(excerpt, whole, isDropped));
  if (timedOut !== undefined)
    notes.push(`it ran for more than ${timedOut} s and was stopped; set timeout to allow more`);
  else if (exitCode != null) notes.push(`exit code ${exitCode}`);
  else notes.push(`ended by ${signal ?? "a signal"}`);
  notes.push(...notices);
  const text = excerpt.text === "" ? "[no output]" : excerpt.text;
  return {
    content: [
      textPart(`${text}\n\n${notes.map((note) => `[${note}]`).join("\n")}`),
      ...(exitCode !== 0 && holder.by === "sandbox" ? [textPart(sandboxAdvice)] : []),
    ],
    hasFailed: exitCode !== 0,
    rawOutput: {
      exitCode: exitCode ?? null,
      signal: signal ?? null,
      timedOut: timedOut !== undefined,
      bytes: whole.bytes,
      ...(whole.file && { file: whole.file.path }),
    },
  };
}

/** A fact, and no guess at the cause. */
const sandboxAdvice =
  "[it ran in a sandbox; if it cannot work there, set outside to true, and the user will be asked]";

function cutNote(
  { from, to, text }: Excerpt,
  { lines, bytes, file }: TerminalSnapshot,
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
