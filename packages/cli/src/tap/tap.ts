// `parley tap -- COMMAND`: sits between a client and an agent, passes every byte on as it came, and records
// what it saw. The trace is written on the side: traffic never waits for it and never fails because of it.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Invocation } from "../command/command.ts";
import { type CommandError, usageError } from "../command/command-error.ts";
import { parseSize } from "../command/option-values.ts";
import { ownVersion } from "../settings/installation.ts";
import { openOutput, type Pass, pass } from "./pass.ts";
import type { Recorder, StreamName } from "./recorder.ts";

type Agent = ChildProcessByStdio<Writable, Readable, Readable>;

const forwarded = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
/** How long what an agent left behind may take to leave after SIGTERM. */
const killMs = 2_000;
/** How long after that a silent stranger may hold the agent's stdout or stderr open. */
const drainMs = 500;
/** How long a disk may take nothing of the end of the trace, and how long all of it may take. */
const stillMs = 3_000;
const flushMs = 30_000;

export async function run({ values, positionals }: Invocation): Promise<number> {
  const [command, ...args] = positionals;
  const sizes = {
    maxBytes: parseSize(values["max-bytes"]),
    maxLineBytes: parseSize(values["max-line"]),
    queueBytes: parseSize(values.queue),
  };
  const wrong = Object.entries(sizes).find(([, size]) => size === undefined)?.[0];
  if (wrong !== undefined) {
    throw misuse(`--${optionNames[wrong]}: expected a size such as 4096, 64k, 32m or 1g`);
  }
  if (command === undefined) throw misuse("expected an agent: parley tap -- COMMAND [ARGUMENTS]");
  const stderr = openOutput(2);
  stderr.on("error", () => {
    // nobody reads it; that is no reason to stop passing bytes
  });
  const say = (text: string): void => void stderr.write(`parley tap: ${text}\n`);
  const out = typeof values.out === "string" ? resolve(values.out) : undefined;
  // every size is there: none of them was wrong
  const recorder = await startRecorder(
    [command, ...args],
    out,
    sizes as Record<keyof typeof sizes, number>,
    say,
  );
  process.exit(await tap([command, ...args], recorder, { stderr, say }));
}

const optionNames: Readonly<Record<string, string>> = {
  maxBytes: "max-bytes",
  maxLineBytes: "max-line",
  queueBytes: "queue",
};

function misuse(message: string): CommandError {
  return usageError(message, "see parley help tap");
}

/** Without a file to write to there is no recorder, and the agent runs all the same. */
async function startRecorder(
  command: readonly string[],
  out: string | undefined,
  sizes: { readonly maxBytes: number; readonly maxLineBytes: number; readonly queueBytes: number },
  say: (text: string) => void,
): Promise<Recorder | undefined> {
  const { createTrace, traceFolder, traceName } = await import("../trace/trace-file.ts");
  const now = new Date();
  try {
    const { fd, path } = createTrace(out ?? join(traceFolder(), traceName(command[0] ?? "", now)));
    say(`recording to ${path}`);
    const { Recorder } = await import("./recorder.ts");
    return new Recorder({
      fd,
      header: {
        parley: "trace",
        version: 1,
        minor: 0,
        startedAt: now.toISOString(),
        command,
        cwd: process.cwd(),
        writer: `parley ${ownVersion()}`,
        node: process.versions.node,
        platform: `${process.platform} ${process.arch}`,
      },
      ...sizes,
      failed: (message) => say(`the trace cannot be written, the agent goes on without it: ${message}`),
    });
  } catch (error) {
    say(`there is no trace, the agent runs without one: ${(error as Error).message}`);
    return undefined;
  }
}

interface Voice {
  /** Our stderr, which the agent's goes to as well. */
  readonly stderr: Writable;
  readonly say: (text: string) => void;
}

/** Runs the agent; the number is our exit code. */
async function tap(
  [command = "", ...args]: readonly string[],
  recorder: Recorder | undefined,
  { stderr, say }: Voice,
): Promise<number> {
  const ended = Promise.withResolvers<{ code: number | null; signal: NodeJS.Signals | null }>();
  // Loaded before the agent starts, so that it is never without its watchdog.
  const { groupMark, ProcessGroup } = await import("@parley/acp/node");
  const mark = groupMark();
  let agent: Agent;
  try {
    agent = spawn(command, args, {
      env: { ...process.env, [mark]: "1" },
      // a group of its own, so that nothing of it is left behind
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
  } catch (error) {
    // Node reports a missing file as an event, but E2BIG and others by throwing.
    return notStarted(command, error as NodeJS.ErrnoException, recorder, say);
  }
  const failure = new Promise<NodeJS.ErrnoException>((fail) => agent.once("error", fail));
  if (!hasPid(agent)) return notStarted(command, await failure, recorder, say);
  // Should we be killed, a watchdog ends the agent and everything that it started.
  const group = new ProcessGroup(agent, mark);
  agent.once("exit", (code, signal) => ended.resolve({ code, signal }));
  recorder?.event({ event: "start", pid: agent.pid });

  const stdout = openOutput(1);
  process.stdin.once("end", () => recorder?.event({ event: "eof", from: "client" }));
  agent.stdout.once("end", () => recorder?.event({ event: "eof", from: "agent" }));
  const recording = (stream: StreamName) => (chunk: Buffer) => recorder?.chunk(stream, chunk);
  pass(process.stdin, agent.stdin, { seen: recording("client") });
  const answers = pass(agent.stdout, stdout, { seen: recording("agent") });
  // ours stays open: we may still have something to say
  const complaints = pass(agent.stderr, stderr, { seen: recording("stderr"), shared: true });
  const hurried = forwardSignals(agent, recorder);

  const { code, signal } = await ended.promise;
  const sweep = group.terminate(killMs);
  await Promise.race([readToTheEnd(agent, [answers, complaints], sweep), hurried]);
  recorder?.event({ event: "exit", ...(code === null ? { signal } : { code }) });
  await finishTrace(recorder, say, hurried);
  const flushed = new Promise<void>((resolve) => stderr.write("", () => resolve()));
  // whoever does not read our complaints does not keep us
  await Promise.race([flushed, delay(drainMs)]);
  return code ?? 128 + constants.signals[signal ?? "SIGTERM"];
}

function hasPid(agent: Agent): agent is Agent & { readonly pid: number } {
  return agent.pid !== undefined;
}

/** Resolves when we are told to leave although the agent has left already. */
function forwardSignals(agent: Agent, recorder: Recorder | undefined): Promise<void> {
  return new Promise((leave) => {
    for (const signal of forwarded) {
      process.on(signal, () => {
        recorder?.event({ event: "signal", signal });
        if (agent.exitCode !== null || agent.signalCode !== null) leave();
        else agent.kill(signal);
      });
    }
  });
}

/**
 * What the agent wrote before it left is passed on, however slowly the client reads. Only a stranger that holds
 * the agent's pipes open, and says nothing any more, is not waited for.
 */
async function readToTheEnd(agent: Agent, passes: readonly Pass[], sweep: Promise<void>): Promise<void> {
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
  recorder: Recorder | undefined,
  say: (text: string) => void,
): Promise<number> {
  const hint =
    error.code === "ENOENT"
      ? "there is no such command; check the name, or give the full path"
      : error.code === "EACCES"
        ? "it is not executable; chmod +x it, or start it through its interpreter"
        : error.message;
  const message = `could not start ${JSON.stringify(command)}: ${hint}`;
  say(message);
  recorder?.event({ event: "spawn_failed", message });
  await finishTrace(recorder, say);
  // what shells answer
  return error.code === "ENOENT" ? 127 : 126;
}

async function finishTrace(
  recorder: Recorder | undefined,
  say: (text: string) => void,
  hurried: Promise<void> = new Promise(() => undefined),
): Promise<void> {
  if (recorder === undefined) return;
  const result = await recorder.finish({ stillMs, maxMs: flushMs, hurried });
  const { isComplete, lostRecords, limitReached, droppedBytes } = result;
  if (droppedBytes > 0) say(`the trace lacks ${droppedBytes} bytes: the disk was too slow for them`);
  if (!isComplete) say("the trace is incomplete: its end could not be written in time");
  else if (limitReached) say(`the trace has reached --max-bytes; ${lostRecords} records are not in it`);
  else if (lostRecords > 0) say(`the trace lacks ${lostRecords} records that could not be written`);
}
