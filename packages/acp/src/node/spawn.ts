// Starts an agent as a child process, with a byte channel over its stdin and stdout.

import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Readable, type Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setImmediate as immediate } from "node:timers/promises";
import { withTimeout } from "../base/abortable.ts";
import { ByteTail } from "../base/byte-tail.ts";
import type { NoPromise } from "../base/no-promise.ts";
import { optional } from "../base/objects.ts";
import { checkPlatform } from "../base/platform.ts";
import { argumentText } from "../jsonrpc/errors.ts";
import type { EndReason } from "../jsonrpc/transport.ts";
import type { ExitStatus } from "../model/content.ts";
import type { ByteChannel, ByteReceiver } from "../transport/byte-channel.ts";
import type { ByteTransportOptions } from "../transport/byte-transport.ts";
import { isMissingCommand } from "./path-search.ts";
import { hasPid, ProcessGroup } from "./process-group.ts";
import { OutputPipe } from "./stream-channel.ts";
import { groupMark } from "./watchdog.ts";
import { WireReader, wireFd } from "./wire-reader.ts";

/** How an agent is started, and how its messages are framed. */
export interface SpawnTransportOptions extends Omit<ByteTransportOptions, "platform"> {
  /** The working directory. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Changes to the environment of this process; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** What errors call the agent. Default: its command. */
  readonly name?: string | undefined;
  /** Kills the agent and everything that it started at once when it aborts, also during the grace times. */
  readonly signal?: AbortSignal | undefined;
  /** How long the agent may take to exit after the end of its stdin, before SIGTERM. Default 3000. */
  readonly graceMs?: number | undefined;
  /** How long the agent may take after SIGTERM, before SIGKILL. Default 2000. */
  readonly killMs?: number | undefined;
  /** Receives all of stderr, in pieces that never split a character. */
  readonly onStderr?: ((text: string) => NoPromise) | undefined;
  /** How much of the end of stderr is kept for errors. Default 16 KiB. */
  readonly stderrTailBytes?: number | undefined;
}

/** A running agent. Closing it ends the agent and everything that it started. */
export interface AgentProcess extends ByteChannel {
  /** undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the agent's own process has exited; with {} when it could not be started. */
  readonly exited: Promise<ExitStatus>;
  /** The end of stderr so far. */
  stderrTail(): string;
  /** The first line of stdout that is not a message, if nothing else came there. */
  noise(): string | undefined;
  /**
   * Ends the channel and lets the agent run on: when this process exits, the watchdog gives the agent its grace time, at
   * least two seconds, and ends it. False, without any effect, where there is no watchdog.
   */
  leave(): boolean;
}

/** Windows passes further descriptors to few programs. */
const hasOwnWire = process.platform !== "win32";

/** How long to wait, after the end of stdout or a failed write, for an exit as the cause. */
const exitWaitMs = 250;
/** How long to wait, after the whole group has exited, while another process silently holds stdout or stderr open. */
const drainMs = 500;
/** How long to wait if that process keeps writing. */
const longestDrainMs = 5_000;

/**
 * Starts an agent without a shell; on Windows name the .exe, because .cmd files need one. A failure to start is
 * reported as the end of the channel, with kind `spawn_failed`.
 */
export function spawnAgent(
  command: string,
  args: readonly string[],
  options: SpawnTransportOptions = {},
): AgentProcess {
  checkPlatform();
  checkCommand(command, args);
  return new SpawnedAgent(command, args, options);
}

class SpawnedAgent implements AgentProcess {
  readonly pid: number | undefined;
  readonly exited: Promise<ExitStatus>;
  readonly #command: string;
  readonly #name: string;
  readonly #options: SpawnTransportOptions;
  readonly #tail: ByteTail;
  readonly #ended = Promise.withResolvers<void>();
  readonly #exit = Promise.withResolvers<ExitStatus>();
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #wire: WireReader | undefined;
  #output: OutputPipe | undefined;
  #group: ProcessGroup | undefined;
  #early: Uint8Array[] = [];
  #chunks = 0;
  #receiver: ByteReceiver | undefined;
  #reason: EndReason | undefined;
  #status: ExitStatus | undefined;
  #closing: Promise<void> | undefined;
  #isLeft = false;
  #sweeping: Promise<void> | undefined;

  constructor(command: string, args: readonly string[], options: SpawnTransportOptions) {
    this.#command = command;
    this.#name = options.name ?? command;
    this.#options = options;
    this.#tail = new ByteTail(options.stderrTailBytes ?? 16 * 1024);
    this.exited = this.#exit.promise;
    const mark = groupMark();
    // for our child only: its children inherit the variable and, unless it runs on Node, the descriptor (wire-reader.ts)
    const PARLEY_WIRE_FD = hasOwnWire ? `${wireFd}:${process.pid}` : undefined;
    const env = {
      ...process.env,
      ...options.env,
      PARLEY_WIRE_FD,
      [mark]: "1",
    };
    try {
      const child = spawn(command, args, {
        cwd: options.cwd,
        env,
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["pipe", "pipe", "pipe", ...(hasOwnWire ? (["pipe"] as const) : [])],
      });
      this.pid = child.pid;
      child.on("error", (error) => this.#notStarted(error));
      if (hasPid(child)) this.#follow(child, new ProcessGroup(child, mark));
    } catch (error) {
      // Node reports a missing file by an event, but throws E2BIG and others
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
    // Paused until open(), but Node reads the pipe when the child exits; #bytes keeps the data.
    const own = child.stdio[wireFd];
    this.#wire = new WireReader(child.stdout, own instanceof Readable ? own : undefined, {
      bytes: (chunk) => this.#bytes(chunk),
      printed: this.#stderrReader().write,
      closed: () => this.#endUnlessExited({ kind: "eof" }),
    });
    const stderr = this.#stderrReader();
    child.stderr.on("data", stderr.write).on("end", stderr.end);
    child.stderr.on("error", () => {
      // 'close' follows
    });
    const { signal: abort } = this.#options;
    const endNow = () => group.endNow();
    abort?.addEventListener("abort", endNow, { once: true });
    if (abort?.aborted) endNow();
    child.once("exit", (code, signal) => {
      this.#status = optional({ exitCode: code ?? undefined, signal: signal ?? undefined });
      this.#exit.resolve(this.#status);
      if (this.#isLeft) group.isGone();
      // never rejects; close() awaits it
      else void this.#sweep(child, group);
    });
    // 'close' comes after the exit, when stdout and stderr have been read to the end
    child.once("close", () => this.#endExited());
    void this.#ended.promise.then(() => abort?.removeEventListener("abort", endNow));
  }

  /** Each stream has its own, since a character may be split. */
  #stderrReader(): { readonly write: (chunk: Uint8Array) => void; readonly end: () => void } {
    const decoder = new StringDecoder("utf8");
    return {
      write: (chunk) => {
        this.#tail.push(chunk);
        if (this.#options.onStderr !== undefined) this.#showStderr(decoder.write(chunk));
      },
      end: () => this.#showStderr(decoder.end()),
    };
  }

  /** Errors of the listener must not affect the agent. */
  #showStderr(text: string): void {
    if (text === "") return;
    try {
      this.#options.onStderr?.(text);
    } catch {
      // the text is in the tail anyway
    }
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) receiver.bytes(chunk);
    if (this.#reason === undefined) this.#wire?.resume();
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
    if (this.#closing === undefined) this.#wire?.pause();
  }

  resume(): void {
    this.#wire?.resume();
  }

  stderrTail(): string {
    return this.#tail.text();
  }

  noise(): string | undefined {
    return this.#wire?.noise();
  }

  leave(): boolean {
    const child = this.#child;
    if (child === undefined || this.#closing !== undefined || this.#reason !== undefined) return false;
    if (this.#group?.leave(this.#options.graceMs ?? 3000) !== true) return false;
    this.#isLeft = true;
    child.unref();
    for (const stream of child.stdio) stream?.destroy();
    this.#end({ kind: "closed", message: `${this.#name} was left to exit by itself` });
    return true;
  }

  close(reason?: Error): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason?: Error): Promise<void> {
    const { graceMs = 3000 } = this.#options;
    const child = this.#child;
    const group = this.#group;
    if (child !== undefined && group !== undefined && !this.#isLeft && !group.isGone()) {
      group.remember();
      // read and drop further output, so that a full pipe does not block the agent's exit
      this.#wire?.resume();
      if (reason === undefined) child.stdin.end();
      else child.stdin.destroy();
      await withTimeout(graceMs, this.#exit.promise);
      await this.#sweep(child, group);
    }
    if (this.#reason === undefined && this.#status === undefined && this.#child !== undefined) {
      child?.unref();
      this.#end({ kind: "closed", message: `${this.#name} did not exit, not even after SIGKILL` });
    }
    await this.#ended.promise;
  }

  /** Ends the rest of the group, and stops reading if a process outside of it holds the pipes open. */
  #sweep(child: ChildProcess, group: ProcessGroup): Promise<void> {
    this.#sweeping ??= (async () => {
      await group.terminate(this.#options.killMs ?? 2000);
      if (this.#status === undefined) return;
      // usually 'close' has come or is about to; a busy or paused reader gets some time
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
        (this.#chunks > seen || this.#wire?.isPaused())
      );
      this.#wire?.destroy();
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
    // a running child also emits errors when it cannot be signalled
    if (this.#child !== undefined) return;
    this.#exit.resolve({});
    const why = explain(this.#command, this.#options, cause);
    const message = `could not start ${JSON.stringify(this.#command)}: ${why}`;
    this.#end({ kind: "spawn_failed", message, cause });
  }

  /** Waits a moment for the exit of the process, which is the usual cause and says more. */
  #endUnlessExited(reason: EndReason): void {
    const wait = async (): Promise<void> => {
      await withTimeout(exitWaitMs, this.#exit.promise);
      if (this.#status === undefined && this.#closing === undefined) this.#end(reason);
    };
    // never rejects
    void wait();
  }

  #endExited(): void {
    const status = this.#status ?? {};
    const stderr = this.#tail.text();
    const message = exitMessage(this.#name, status);
    this.#end({ kind: "exited", message, ...status, ...(stderr === "" ? {} : { stderr }) });
  }

  #end(reason: EndReason): void {
    if (this.#reason !== undefined) return;
    this.#wire?.flush();
    this.#reason = reason;
    this.#ended.resolve();
    this.#receiver?.ended(reason);
  }
}

/** Throws a TypeError for a command that no system can start. */
function checkCommand(command: string, args: readonly string[]): void {
  const words: unknown = args;
  if (typeof command !== "string")
    throw new TypeError(`the agent's command must be a program name or a path, got ${argumentText(command)}`);
  if (!Array.isArray(words) || words.some((word) => typeof word !== "string")) {
    const got = Array.isArray(words) ? words.find((word) => typeof word !== "string") : words;
    // a command with spaces was probably meant for a shell
    const [program, ...rest] = command.split(/\s+/u).map((word) => JSON.stringify(word));
    throw new TypeError(
      `the agent's arguments must be a list of strings, got ${argumentText(got)}; there is no shell: ` +
        `give ${program}, [${rest.join(", ")}]`,
    );
  }
  if (command === "") throw new TypeError("the agent's command is empty; give a program name or a path");
  const bad = [command, ...args].findIndex((word) => word.includes("\0"));
  if (bad < 0) return;
  throw new TypeError(
    `${bad === 0 ? "the agent's command" : `argument ${bad} of the agent`} contains a NUL character`,
  );
}

function explain(
  command: string,
  { cwd, env }: Pick<SpawnTransportOptions, "cwd" | "env">,
  error: NodeJS.ErrnoException,
): string {
  if (cwd !== undefined && !existsSync(cwd)) return `its working directory ${cwd} does not exist`;
  const isPath = command.includes("/");
  if (!isPath && isMissingCommand(command, error, { ...process.env, ...env }["PATH"])) {
    return "there is no such command on PATH; install it, or give the full path";
  }
  if (error.code === "ENOENT") {
    return existsSync(command)
      ? "the interpreter named in its first line does not exist; install it, or start the file through another one"
      : `there is no such file; check the path, or install it${/\s/u.test(command) ? "; arguments belong in the list after it" : ""}`;
  }
  if (error.code === "EACCES") {
    return "it is not executable; chmod +x it, or start it through its interpreter (node, python)";
  }
  if (error.code === "E2BIG") return "its arguments and environment are too long; pass large input in a file";
  return error.message;
}

function exitMessage(command: string, status: ExitStatus): string {
  if (status.signal !== undefined) return `${command} was ended by ${status.signal}`;
  return `${command} exited with code ${status.exitCode ?? "unknown"}`;
}
