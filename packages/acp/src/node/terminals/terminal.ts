// A terminal: one command and its output, until release.

import { setImmediate as immediate } from "node:timers/promises";
import { withTimeout } from "../../base/abortable.ts";
import { ByteTail } from "../../base/byte-tail.ts";
import { backgroundDeadline, type Deadline, deadline } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import type { ExitStatus } from "../../model/content.ts";
import type {
  TerminalExit,
  TerminalHandle,
  TerminalOutputPart,
  TerminalSnapshot,
} from "../../model/services.ts";
import { checkedSignal, type PtyControl, type RunningCommand, unknownTerminal } from "./command.ts";

/** A terminal on this machine. */
export interface LocalTerminal extends TerminalHandle {
  /** The pid of the command's own process. */
  readonly pid: number;
  /** Calls the listener with the output so far, and with all that comes. Returns a function that removes it. */
  onOutput(listener: (part: TerminalOutputPart) => void): () => void;
  /** Input and screen size; undefined without a pseudo-terminal. */
  readonly pty: PtyControl | undefined;
  /** Releases it. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TerminalOwner {
  /** How long the command may run; undefined for as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** How long the command may take after SIGTERM, before SIGKILL. */
  readonly killMs: number;
  exited(terminalId: string, status: ExitStatus): void;
  /** Called when the id becomes invalid; `work` resolves when the command has ended. */
  released(terminalId: string, work: Promise<void>): void;
}

/** How long to wait for the end of the output after the exit, for example for a `| tee`. */
const drainMs = 200;
/** How often to check for background processes of an exited command, whose group number may be reused later. */
const remainsMs = 1000;

export class Terminal implements LocalTerminal {
  readonly terminalId: string;
  readonly pid: number;
  readonly pty: PtyControl | undefined;
  readonly #running: RunningCommand;
  readonly #owner: TerminalOwner;
  readonly #settled = Promise.withResolvers<void>();
  readonly #waits = new Set<(status: ExitStatus) => void>();
  readonly #listeners: OutputListeners;
  readonly #timeout: Deadline;
  #tail: ByteTail;
  #complete = false;
  #exited = false;
  #status: ExitStatus | undefined;
  #remains: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  #releasing: Promise<void> | undefined;

  constructor(
    terminalId: string,
    running: RunningCommand,
    { tail, listeners }: { readonly tail: ByteTail; readonly listeners: OutputListeners },
    owner: TerminalOwner,
  ) {
    this.terminalId = terminalId;
    this.pid = running.pid;
    this.pty = running.pty;
    this.#running = running;
    this.#tail = tail;
    this.#listeners = listeners;
    this.#owner = owner;
    this.#timeout = backgroundDeadline(owner.timeoutMs ?? Number.POSITIVE_INFINITY, () => void this.#end());
    // never rejects
    void this.#follow();
  }

  async output(): Promise<TerminalSnapshot> {
    this.#check();
    return {
      output: this.#tail.text({ complete: this.#complete }),
      truncated: this.#tail.dropped > 0,
      ...optional({ exitStatus: this.#status }),
    };
  }

  onOutput(listener: (part: TerminalOutputPart) => void): () => void {
    this.#check();
    return this.#listeners.add(listener);
  }

  async waitForExit({
    signal,
    timeoutMs = Number.POSITIVE_INFINITY,
  }: {
    readonly signal?: AbortSignal | undefined;
    readonly timeoutMs?: number | undefined;
  } = {}): Promise<TerminalExit> {
    this.#check();
    signal?.throwIfAborted();
    if (this.#status !== undefined) return this.#status;
    // not a race with a long-lived promise, which would keep every aborted wait
    return new Promise((resolve, reject) => {
      const timer = deadline(timeoutMs, () => {
        this.#waits.delete(answer);
        answer({ timedOut: true });
      });
      const answer = (status: TerminalExit): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        resolve(status);
      };
      const abort = (): void => {
        clearTimeout(timer);
        this.#waits.delete(answer);
        reject(signal?.reason);
      };
      this.#waits.add(answer);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  async kill({ signal }: { readonly signal?: string | undefined } = {}): Promise<void> {
    this.#check();
    if (signal === undefined) await this.#end();
    else await this.#running.group.send(checkedSignal(signal));
  }

  release(): Promise<void> {
    if (this.#releasing === undefined) {
      this.#releasing = this.#release();
      this.#owner.released(this.terminalId, this.#releasing);
    }
    return this.#releasing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #check(): void {
    if (this.#releasing !== undefined) throw unknownTerminal();
  }

  async #follow(): Promise<void> {
    const { exited, outputEnded, group } = this.#running;
    const ended = outputEnded.then(() => {
      this.#complete = true;
    });
    const status = await exited;
    this.#exited = true;
    if (!group.isGone()) this.#watchRemains();
    await withTimeout(drainMs, ended);
    // one full turn of the event loop reads everything that was in the pipe at the exit
    if (!this.#complete) {
      await immediate();
      await immediate();
    }
    this.#settle(status);
  }

  #settle(status: ExitStatus): void {
    if (this.#status !== undefined) return;
    this.#status = status;
    clearTimeout(this.#timeout);
    this.#listeners.end();
    for (const answer of this.#waits) answer(status);
    this.#waits.clear();
    this.#settled.resolve();
    // in a microtask, so that an exception of the callback does not reach our own callers
    queueMicrotask(() => this.#owner.exited(this.terminalId, status));
  }

  /** Polls until the group is empty, after which its number may be reused. */
  #watchRemains(): void {
    this.#remains = setInterval(() => {
      if (this.#running.group.isGone()) clearInterval(this.#remains);
    }, remainsMs).unref();
  }

  #end(): Promise<void> {
    this.#ending ??= (async () => {
      await this.#running.group.terminate(this.#owner.killMs);
      // stuck in the kernel: report what is known
      if (!this.#exited && !this.#running.group.isGone()) this.#settle({ signal: "SIGKILL" });
      await this.#settled.promise;
    })();
    return this.#ending;
  }

  async #release(): Promise<void> {
    await this.#end();
    clearInterval(this.#remains);
    this.#running.stopReading();
    this.#tail = new ByteTail(0);
  }
}

type Listener = (part: TerminalOutputPart) => void;

export class OutputListeners {
  readonly #tail: ByteTail;
  readonly #feeds = new Set<(bytes: Uint8Array | undefined) => void>();
  #hasEnded = false;

  constructor(tail: ByteTail) {
    this.#tail = tail;
  }

  push(bytes: Uint8Array): void {
    for (const feed of this.#feeds) feed(bytes);
  }

  /** Gives what is left of a character that was cut off. Nothing follows. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const feed of this.#feeds) feed(undefined);
    this.#feeds.clear();
  }

  /** The listener first gets what is kept, so that it misses nothing of a command that is quick. */
  add(listener: Listener): () => void {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const feed = (bytes: Uint8Array | undefined): void => {
      const data = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
      if (data !== "") listener({ data });
    };
    const kept = this.#tail.text({ complete: this.#hasEnded });
    if (kept !== "") listener({ data: kept });
    if (this.#hasEnded) return () => undefined;
    // the bytes of a character that is not complete yet belong to what follows
    decoder.decode(this.#tail.bytes(), { stream: true });
    this.#feeds.add(feed);
    return () => void this.#feeds.delete(feed);
  }
}
