// Sends the output of a terminal to an agent that does not ask for it, at the speed at which the agent reads.

import { terminalOutputMethod } from "../../base/parley-extensions.ts";
import type { Dialect } from "../../edition/dialect.ts";
import type { TerminalHandle, TerminalOutputPart } from "../../model/services.ts";

/** The part of a connection that output is sent by. */
export interface OutputConnection {
  /** The dialect that the agent speaks; undefined for version 1. */
  readonly dialect: Dialect | undefined;
  /** Resolves when the agent has read what was sent; undefined when it keeps up. */
  readonly room: Promise<void> | undefined;
  notifyExtension(method: `_${string}`, params: unknown): Promise<void>;
}

/** How many characters wait for an agent that is slow. Older ones are dropped. */
const maxHeld = 1024 * 1024;

export class PushedOutput {
  readonly #connection: OutputConnection;
  readonly #terminalId: string;
  #held: TerminalOutputPart[] = [];
  #chars = 0;
  /** Exists while the agent is slow. */
  #room: Promise<void> | undefined;
  #remove: (() => void) | undefined;
  #isStopped = false;

  constructor(connection: OutputConnection, terminalId: string) {
    this.#connection = connection;
    this.#terminalId = terminalId;
  }

  /** To be called once the agent knows the terminal. */
  begin(terminal: TerminalHandle): void {
    if (!this.#isStopped) this.#remove = terminal.onOutput?.((part) => this.#push(part));
  }

  stop(): void {
    this.#isStopped = true;
    this.#remove?.();
    this.#held = [];
  }

  /** Resolves when nothing waits any more. */
  async flushed(): Promise<void> {
    while (this.#room !== undefined) await this.#room;
  }

  #push(part: TerminalOutputPart): void {
    this.#held.push(part);
    this.#chars += part.data.length;
    while (this.#chars > maxHeld && this.#held.length > 1)
      this.#chars -= this.#held.shift()?.data.length ?? 0;
    this.#send();
  }

  #send(): void {
    while (this.#room === undefined) {
      const part = this.#held.shift();
      if (part === undefined) return;
      this.#chars -= part.data.length;
      void this.#connection.notifyExtension(terminalOutputMethod, { terminalId: this.#terminalId, ...part });
      this.#room = this.#connection.room?.then(() => {
        this.#room = undefined;
        this.#send();
      });
    }
  }
}
