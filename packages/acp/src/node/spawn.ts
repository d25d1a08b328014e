// Starts an agent and owns its process: a byte channel over its stdin and stdout, the tail of its
// stderr, and the promise that nothing of it is left when the channel has closed. argv goes to the
// system as it is; there is no shell. Windows' .cmd files need one, so there name the .exe.

import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setImmediate as immediate } from "node:timers/promises";
import { ByteTail } from "../base/byte-tail.ts";
import { withTimeout } from "../base/timeout.ts";
import type { EndReason } from "../jsonrpc/transport.ts";
import type { ByteChannel, ByteReceiver } from "../transport/byte-channel.ts";
import { groupMark } from "./group-mark.ts";
import { OutputPipe } from "./output-pipe.ts";
import { ProcessGroup } from "./process-group.ts";
import { checkCommand, exitMessage, spawnFailure } from "./spawn-message.ts";

export interface SpawnOptions {
  /** The directory to start in. Default: ours. */
  readonly cwd?: string;
  /** Added to our environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long an agent may take to leave after the end of its stdin, before SIGTERM. Default 3000. */
  readonly graceMs?: number;
  /** How long it may take after SIGTERM, before SIGKILL. Default 2000. */
  readonly killMs?: number;
  /** Ends it and all that it started at once, by SIGKILL, also while it is given time to leave. */
  readonly kill?: AbortSignal;
  /** How much of its stderr is kept for error reports. Default 16 KiB. */
  readonly stderrTailBytes?: number;
  /** Sees all of its stderr, in pieces that never split a character. */
  readonly onStderr?: (text: string) => void;
}

export interface ProcessExit {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** A running agent. Closing it ends the agent and everything that it started. */
export interface AgentProcess extends ByteChannel {
  /** undefined when it could not be started. */
  readonly pid: number | undefined;
  /** When the agent's own process has ended; empty when it could not be started. */
  readonly exited: Promise<ProcessExit>;
  /** The last of what it wrote to stderr so far. */
  stderrTail(): string;
}

/** How long after the end of stdout, or a failed write, an exit still counts as the cause. */
const exitWaitMs = 250;
/** How long after the death of the whole group a silent stranger may hold its stdout or stderr open. */
const drainMs = 500;
/** And how long one that goes on writing may: what the agent itself wrote has been read by then. */
const longestDrainMs = 5_000;

/** Starts an agent. A failure to start is reported as the end of the channel, with kind `spawn_failed`. */
export function spawnAgent(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): AgentProcess {
  checkCommand(command, args);
  return new SpawnedAgent(command, args, options);
}

class SpawnedAgent implements AgentProcess {
  readonly pid: number | undefined;
  readonly exited: Promise<ProcessExit>;
  readonly #command: string;
  readonly #options: SpawnOptions;
  readonly #tail: ByteTail;
  readonly #ended = Promise.withResolvers<void>();
  readonly #exit = Promise.withResolvers<ProcessExit>();
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #output: OutputPipe | undefined;
  #group: ProcessGroup | undefined;
  #early: Uint8Array[] = [];
  #chunks = 0;
  #receiver: ByteReceiver | undefined;
  #reason: EndReason | undefined;
  #status: ProcessExit | undefined;
  #closing: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(command: string, args: readonly string[], options: SpawnOptions) {
    this.#command = command;
    this.#options = options;
    this.#tail = new ByteTail(options.stderrTailBytes ?? 16 * 1024);
    this.exited = this.#exit.promise;
    const mark = groupMark();
    const env = { ...process.env, ...options.env, PARLEY_WIRE_FD: undefined, [mark]: "1" };
    try {
      const child = spawn(command, args, {
        cwd: options.cwd,
        env,
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["pipe", "pipe", "pipe"],
      });
      this.pid = child.pid;
      child.on("error", (error) => this.#notStarted(error));
      if (hasPid(child)) this.#follow(child, new ProcessGroup(child, mark));
    } catch (error) {
      // Node reports a missing file as an event, but E2BIG and others by throwing.
      this.#notStarted(error as NodeJS.ErrnoException);
    }
  }

  #follow(child: ChildProcessByStdio<Writable, Readable, Readable>, group: ProcessGroup): void {
    this.#child = child;
    this.#group = group;
    this.#output = new OutputPipe(child.stdin, {
      drained: () => this.#receiver?.drained(),
      failed: () => this.#endUnlessExited({ kind: "closed", message: "the agent has closed its stdin" }),
    });
    // Paused until open(), but Node empties the pipe by itself when the child exits: keep what comes.
    child.stdout.on("data", (chunk: Uint8Array) => this.#bytes(chunk)).pause();
    child.stdout.on("error", () => {
      // a broken pipe also ends it, and 'close' follows
    });
    child.stdout.on("close", () => this.#endUnlessExited({ kind: "eof" }));
    const decoder = new StringDecoder("utf8");
    child.stderr.on("data", (chunk: Buffer) => {
      this.#tail.push(chunk);
      if (this.#options.onStderr === undefined) return;
      this.#showStderr(decoder.write(chunk));
    });
    child.stderr.on("end", () => this.#showStderr(decoder.end()));
    child.stderr.on("error", () => {
      // as for stdout
    });
    const { kill } = this.#options;
    const endNow = () => group.endNow();
    kill?.addEventListener("abort", endNow, { once: true });
    if (kill?.aborted) endNow();
    child.once("exit", (code, signal) => {
      this.#status = { ...(code === null ? {} : { exitCode: code }), ...(signal === null ? {} : { signal }) };
      this.#exit.resolve(this.#status);
      // It cannot fail; close() waits for it.
      void this.#sweep(child, group);
    });
    // 'close' comes when the process has ended and its stdout and stderr have been read to the end.
    child.once("close", () => this.#endExited());
    void this.#ended.promise.then(() => kill?.removeEventListener("abort", endNow));
  }

  /** A listener's mistake is its own: it must not end the agent, which goes on talking. */
  #showStderr(text: string): void {
    if (text === "") return;
    try {
      this.#options.onStderr?.(text);
    } catch {
      // there is nobody to tell; the text itself is kept in the tail
    }
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) receiver.bytes(chunk);
    if (this.#reason === undefined) this.#child?.stdout.resume();
    else receiver.ended(this.#reason);
  }

  write(text: string): boolean {
    return this.#output?.write(text) ?? true;
  }

  endOutput(): void {
    this.#child?.stdin.end();
  }

  queuedBytes(): number {
    return this.#output?.queuedBytes() ?? 0;
  }

  pause(): void {
    if (this.#closing === undefined) this.#child?.stdout.pause();
  }

  resume(): void {
    this.#child?.stdout.resume();
  }

  stderrTail(): string {
    return this.#tail.text();
  }

  close(reason?: Error): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason?: Error): Promise<void> {
    const { graceMs = 3000 } = this.#options;
    const child = this.#child;
    const group = this.#group;
    if (child !== undefined && group !== undefined && !group.isGone()) {
      group.remember();
      // What it still has to say is read and dropped: a full pipe must not keep it from leaving.
      child.stdout.resume();
      if (reason === undefined) child.stdin.end();
      else child.stdin.destroy();
      await withTimeout(graceMs, this.#exit.promise);
      await this.#sweep(child, group);
    }
    if (this.#reason === undefined && this.#status === undefined && this.#child !== undefined) {
      child?.unref();
      this.#end({ kind: "closed", message: `${this.#command} does not die, not even of SIGKILL` });
    }
    await this.#ended.promise;
  }

  /** Ends what is left of the group, and reading too if somebody outside of it holds the pipes open. */
  #sweep(child: ChildProcess, group: ProcessGroup): Promise<void> {
    this.#sweeping ??= (async () => {
      await group.terminate(this.#options.killMs ?? 2000);
      if (this.#status === undefined) return;
      // Normally 'close' has come or is about to. A busy or paused reader is waited for, within reason.
      const latest = performance.now() + longestDrainMs;
      let seen: number;
      do {
        seen = this.#chunks;
        await withTimeout(drainMs, this.#ended.promise);
        await immediate();
      } while (
        this.#reason === undefined &&
        this.#closing === undefined &&
        performance.now() < latest &&
        (this.#chunks > seen || child.stdout?.isPaused())
      );
      child.stdout?.destroy();
      child.stderr?.destroy();
      this.#endExited();
    })();
    return this.#sweeping;
  }

  #bytes(chunk: Uint8Array): void {
    this.#chunks += 1;
    if (this.#closing !== undefined || this.#reason !== undefined) return;
    if (this.#receiver === undefined) this.#early.push(chunk);
    else this.#receiver.bytes(chunk);
  }

  #notStarted(cause: NodeJS.ErrnoException): void {
    // A child that runs can also fail to be signalled; that is none of the channel's business.
    if (this.#child !== undefined) return;
    this.#exit.resolve({});
    this.#end({ kind: "spawn_failed", message: spawnFailure(this.#command, this.#options, cause), cause });
  }

  /** The usual reason for the end of a pipe is the end of its process, which says more: wait for it a moment. */
  #endUnlessExited(reason: EndReason): void {
    const wait = async (): Promise<void> => {
      await withTimeout(exitWaitMs, this.#exit.promise);
      if (this.#status === undefined && this.#closing === undefined) this.#end(reason);
    };
    // It cannot fail: neither promise rejects.
    void wait();
  }

  #endExited(): void {
    const status = this.#status ?? {};
    const stderr = this.#tail.text();
    const message = exitMessage(this.#command, status);
    this.#end({ kind: "exited", message, ...status, ...(stderr === "" ? {} : { stderr }) });
  }

  #end(reason: EndReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#ended.resolve();
    this.#receiver?.ended(reason);
  }
}

function hasPid<T extends ChildProcess>(child: T): child is T & { readonly pid: number } {
  return child.pid !== undefined;
}
