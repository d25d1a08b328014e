// One command and its output, from its start to its release. What the command leaves behind in the
// background lives until kill or release, daemons included.

import { setTimeout as delay, setImmediate as immediate } from "node:timers/promises";
import { ByteTail } from "../../base/byte-tail.ts";
import type { ExitStatus, TerminalHandle, TerminalOutput } from "../../model/terminals.ts";
import type { PtyControl, RunningCommand } from "./running-command.ts";
import { unknownTerminal } from "./terminal-errors.ts";

/** A terminal on this machine. */
export interface LocalTerminal extends TerminalHandle {
  /** Of the command's own process. */
  readonly pid: number;
  /** For what is typed and for the size of the screen; undefined when it has no pseudo-terminal. */
  readonly pty: PtyControl | undefined;
}

export interface TerminalOwner {
  /** How long the command may take after SIGTERM, before SIGKILL. */
  readonly killMs: number;
  exited(terminalId: string, status: ExitStatus): void;
  /** From now on the id is invalid; the work is done when the command has gone. */
  released(terminalId: string, work: Promise<void>): void;
}

/** How long the end of the output is waited for once the command has ended: its last `| tee` may need a moment. */
const drainMs = 200;
/** How often to look whether what an ended command left behind has gone too, before its number is given to others. */
const remainsMs = 1000;

export class Terminal implements LocalTerminal {
  readonly terminalId: string;
  readonly pid: number;
  readonly pty: PtyControl | undefined;
  readonly #running: RunningCommand;
  readonly #owner: TerminalOwner;
  readonly #settled = Promise.withResolvers<void>();
  readonly #waits = new Set<(status: ExitStatus) => void>();
  #tail: ByteTail;
  #complete = false;
  #exited = false;
  #status: ExitStatus | undefined;
  #remains: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  #releasing: Promise<void> | undefined;

  constructor(terminalId: string, running: RunningCommand, tail: ByteTail, owner: TerminalOwner) {
    this.terminalId = terminalId;
    this.pid = running.pid;
    this.pty = running.pty;
    this.#running = running;
    this.#tail = tail;
    this.#owner = owner;
    // It cannot fail: what it waits for never rejects.
    void this.#follow();
  }

  async output(): Promise<TerminalOutput> {
    this.#check();
    return {
      output: this.#tail.text({ complete: this.#complete }),
      truncated: this.#tail.dropped > 0,
      ...(this.#status === undefined ? {} : { exitStatus: this.#status }),
    };
  }

  async waitForExit({ signal }: { readonly signal?: AbortSignal } = {}): Promise<ExitStatus> {
    this.#check();
    signal?.throwIfAborted();
    if (this.#status !== undefined) return this.#status;
    // Not a race with one long-lived promise: that would remember every wait that was given up.
    return new Promise((resolve, reject) => {
      const answer = (status: ExitStatus): void => {
        signal?.removeEventListener("abort", abort);
        resolve(status);
      };
      const abort = (): void => {
        this.#waits.delete(answer);
        reject(signal?.reason);
      };
      this.#waits.add(answer);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  async kill(): Promise<void> {
    this.#check();
    await this.#end();
  }

  release(): Promise<void> {
    if (this.#releasing === undefined) {
      this.#releasing = this.#release();
      this.#owner.released(this.terminalId, this.#releasing);
    }
    return this.#releasing;
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
    const timer = new AbortController();
    // rejected by the abort below, when nobody waits for it any more
    const drained = delay(drainMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([ended, drained]);
    timer.abort();
    // However late we are: in one full turn of the loop all is read that was in the pipe at the exit.
    if (!this.#complete) {
      await immediate();
      await immediate();
    }
    this.#settle(status);
  }

  #settle(status: ExitStatus): void {
    if (this.#status !== undefined) return;
    this.#status = status;
    for (const answer of this.#waits) answer(status);
    this.#waits.clear();
    this.#settled.resolve();
    // Apart, so that an exception is the caller's own and does not get in the way of ours.
    queueMicrotask(() => this.#owner.exited(this.terminalId, status));
  }

  /** A group that has not been seen empty is ours; to know when it stops being that, one has to look. */
  #watchRemains(): void {
    this.#remains = setInterval(() => {
      if (this.#running.group.isGone()) clearInterval(this.#remains);
    }, remainsMs).unref();
  }

  #end(): Promise<void> {
    this.#ending ??= (async () => {
      await this.#running.group.terminate(this.#owner.killMs);
      // Stuck in the kernel. Whoever waits gets the truth as far as it is known.
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
