// `parley tap -- COMMAND`: passes bytes between a client and an agent and records them. Traffic never waits for the trace.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { constants } from "node:os";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Splice } from "@parley/acp/node";
import { type Invocation, usageError } from "../command/command.ts";
import { sizeOption, textOption } from "../command/option-values.ts";
import { ownVersion } from "../settings/installation.ts";
import type { StreamName, TapRecorder } from "./tap-recorder.ts";

type Agent = ChildProcessByStdio<Writable, Readable, Readable>;

const forwarded = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
/** How long leftover processes of an agent may take to exit after SIGTERM. */
const killMs = 2_000;
/** How long another process may then hold the agent's stdout or stderr open without writing. */
const drainMs = 500;
/** Limits for writing the end of the trace: without progress, and in total. */
const stillMs = 3_000;
const flushMs = 30_000;

export async function run({ values, positionals }: Invocation): Promise<number> {
  const [command, ...args] = positionals;
  const sizes = {
    maxBytes: sizeOption(values, "max-bytes"),
    maxLineBytes: sizeOption(values, "max-line"),
    queueBytes: sizeOption(values, "queue"),
  };
  if (command === undefined)
    throw usageError("expected an agent: parley tap -- COMMAND [ARGUMENTS]", "see parley help tap");
  // loaded before the agent starts, so that it is never without its watchdog
  const parts = await import("./process-parts.ts");
  const stderr = parts.openOutput(2);
  stderr.on("error", () => {
    // a closed stderr is no reason to stop passing bytes
  });
  const notify = (text: string): void => void stderr.write(`parley tap: ${text}\n`);
  const out = textOption(values, "out");
  const recorder = await startRecorder([command, ...args], out, sizes, notify);
  process.exit(await tap([command, ...args], recorder, { stderr, notify, parts }));
}

/** Undefined if the trace cannot be created: the agent runs without one. */
async function startRecorder(
  command: readonly string[],
  out: string | undefined,
  sizes: { readonly maxBytes: number; readonly maxLineBytes: number; readonly queueBytes: number },
  notify: (text: string) => void,
): Promise<TapRecorder | undefined> {
  const { createTrace, defaultTracePath } = await import("../trace/trace-file.ts");
  const { shownWords } = await import("../settings/known-secrets.ts");
  const now = new Date();
  try {
    const { fd, path } = createTrace(
      out === undefined ? defaultTracePath(command[0] ?? "", now) : resolve(out),
    );
    notify(`recording to ${path}`);
    const { TapRecorder } = await import("./tap-recorder.ts");
    return new TapRecorder({
      fd,
      header: {
        parley: "trace",
        version: 1,
        minor: 0,
        startedAt: now.toISOString(),
        command: shownWords(command),
        cwd: process.cwd(),
        writer: `parley ${ownVersion()}`,
        node: process.versions.node,
        platform: `${process.platform} ${process.arch}`,
      },
      ...sizes,
      failed: (message) => notify(`cannot write the trace, the agent continues without it: ${message}`),
    });
  } catch (error) {
    notify(`cannot create the trace, the agent runs without one: ${(error as Error).message}`);
    return undefined;
  }
}

interface TapParts {
  readonly stderr: Writable;
  readonly notify: (text: string) => void;
  readonly parts: typeof import("./process-parts.ts");
}

/** Runs the agent; returns our exit code. `stderr` also gets the agent's stderr. */
async function tap(
  [command = "", ...args]: readonly string[],
  recorder: TapRecorder | undefined,
  { stderr, notify, parts }: TapParts,
): Promise<number> {
  const ended = Promise.withResolvers<{ code: number | null; signal: NodeJS.Signals | null }>();
  const { groupMark, openOutput, ProcessGroup, splice } = parts;
  const mark = groupMark();
  let agent: Agent;
  try {
    agent = spawn(command, args, {
      env: { ...process.env, [mark]: "1" },
      // its own process group, so that all of it can be ended
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
  } catch (error) {
    // Node reports a missing file as an event, but throws E2BIG and others
    return notStarted(command, error as NodeJS.ErrnoException, recorder, notify);
  }
  const failure = new Promise<NodeJS.ErrnoException>((fail) => agent.once("error", fail));
  if (!hasPid(agent)) return notStarted(command, await failure, recorder, notify);
  // if we are killed, a watchdog ends the agent and everything that it started
  const group = new ProcessGroup(agent, mark);
  agent.once("exit", (code, signal) => ended.resolve({ code, signal }));
  recorder?.event({ event: "start", pid: agent.pid });

  const stdout = openOutput(1);
  process.stdin.once("end", () => recorder?.event({ event: "eof", from: "client" }));
  agent.stdout.once("end", () => recorder?.event({ event: "eof", from: "agent" }));
  const recording = (stream: StreamName) => (chunk: Buffer) => recorder?.chunk(stream, chunk);
  splice(process.stdin, agent.stdin, { seen: recording("client") });
  const output = splice(agent.stdout, stdout, { seen: recording("agent") });
  // our stderr stays open for our own messages
  const errors = splice(agent.stderr, stderr, { seen: recording("stderr"), shared: true });
  const hurried = forwardSignals(agent, recorder);

  const { code, signal } = await ended.promise;
  const sweep = group.terminate(killMs);
  await Promise.race([drain(agent, [output, errors], sweep), hurried]);
  recorder?.event({ event: "exit", ...(code === null ? { signal } : { code }) });
  await finishTrace(recorder, notify, hurried);
  const flushed = new Promise<void>((resolve) => stderr.write("", () => resolve()));
  // a blocked stderr does not keep us running
  await Promise.race([flushed, delay(drainMs)]);
  return code ?? 128 + constants.signals[signal ?? "SIGTERM"];
}

function hasPid(agent: Agent): agent is Agent & { readonly pid: number } {
  return agent.pid !== undefined;
}

/** Resolves at a signal after the agent has exited. */
function forwardSignals(agent: Agent, recorder: TapRecorder | undefined): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of forwarded) {
      process.on(signal, () => {
        recorder?.event({ event: "signal", signal });
        if (agent.exitCode !== null || agent.signalCode !== null) resolve();
        else agent.kill(signal);
      });
    }
  });
}

/** Passes on all output of an exited agent, unless another process holds its pipes open and writes nothing. */
async function drain(agent: Agent, passes: readonly Splice[], sweep: Promise<void>): Promise<void> {
  let over = false;
  const all = Promise.all(passes.map(({ done }) => done)).then(() => {
    over = true;
  });
  await Promise.race([all, sweep]);
  const progress = () => passes.reduce((sum, { count }) => sum + count(), 0);
  while (!over) {
    const before = progress();
    await Promise.race([all, delay(drainMs)]);
    if (over || progress() > before || passes.some(({ isBlocked }) => isBlocked())) continue;
    agent.stdout.destroy();
    agent.stderr.destroy();
  }
}

async function notStarted(
  command: string,
  error: NodeJS.ErrnoException,
  recorder: TapRecorder | undefined,
  notify: (text: string) => void,
): Promise<number> {
  const { isMissingCommand } = await import("./process-parts.ts");
  const isMissing = isMissingCommand(command, error);
  const hint = isMissing
    ? "command not found; check the name, or give the full path"
    : error.code === "EACCES"
      ? "not executable; run chmod +x, or start it through its interpreter"
      : error.message;
  const message = `cannot start ${JSON.stringify(command)}: ${hint}`;
  notify(message);
  recorder?.event({ event: "spawn_failed", message });
  await finishTrace(recorder, notify);
  // as shells do
  return isMissing ? 127 : 126;
}

async function finishTrace(
  recorder: TapRecorder | undefined,
  notify: (text: string) => void,
  hurried: Promise<void> = new Promise(() => undefined),
): Promise<void> {
  if (recorder === undefined) return;
  const result = await recorder.finish({ stillMs, maxMs: flushMs, hurried });
  const { isComplete, lostRecords, limitReached, droppedBytes } = result;
  if (droppedBytes > 0) notify(`${droppedBytes} bytes are missing from the trace: the disk was too slow`);
  if (!isComplete) notify("the trace is incomplete: the disk was too slow for its end");
  else if (limitReached) notify(`the trace reached --max-bytes; ${lostRecords} records are missing`);
  else if (lostRecords > 0)
    notify(`${lostRecords} records are missing from the trace: they could not be written`);
}
