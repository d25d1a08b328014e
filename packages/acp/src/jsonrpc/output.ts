// The writing side of a connection: shows each message to the tap, knows who waits for room, and
// decides when the peer is not read because it does not read.

import type { ConnectionCounters, ConnectionOptions } from "./connection-options.ts";
import type { Transport } from "./transport.ts";

export interface OutputHost {
  readonly counters: ConnectionCounters;
  readonly tap: ConnectionOptions["tap"];
  /** Whether the peer owes us an answer: then it must be read, whatever else it sends. */
  awaitsAnswers(): boolean;
}

export class Output {
  readonly #transport: Transport;
  readonly #host: OutputHost;
  #open = true;
  #blocked: PromiseWithResolvers<void> | undefined;
  #turn: Promise<void> | undefined;
  #paused = false;

  constructor(transport: Transport, host: OutputHost) {
    this.#transport = transport;
    this.#host = host;
  }

  /** Whether anything can be written. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** What to wait for after `send` returned false. */
  get room(): Promise<void> | undefined {
    return this.#blocked?.promise;
  }

  /** Resolves when timers and I/O have had their turn; one promise for all who ask before that. */
  get nextTurn(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#turn = undefined;
        resolve();
      }, 0);
    });
    return this.#turn;
  }

  /** `given` is the message already serialised. False when the peer is slow. Throws when the message cannot be serialised, and has then sent nothing. */
  send(message: object, given?: string): boolean {
    if (!this.#open) {
      this.#host.counters.dropped++;
      return true;
    }
    const { tap } = this.#host;
    const text = tap === undefined ? given : (given ?? JSON.stringify(message));
    if (tap !== undefined && text !== undefined) tap("out", text);
    // sending may end the connection (overflow): then nobody has to wait any more
    if (this.#transport.send(message, text) || !this.#open) return true;
    this.#blocked ??= Promise.withResolvers<void>();
    return false;
  }

  /**
   * A peer that asks faster than it reads is not read until it has caught up. Only answers do this, and
   * only while the peer owes us none: then the other side has requests pending, so it never stops
   * reading at the same time, and the two cannot wait for one another.
   */
  sendAnswer(message: object, given?: string): void {
    if (this.send(message, given) || this.#paused || this.#host.awaitsAnswers()) return;
    this.#paused = true;
    this.#transport.pause();
  }

  /** Called when a request was sent: the peer may have to be read before it can answer. */
  resumeInput(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#transport.resume();
  }

  drained(): void {
    this.resumeInput();
    this.releaseWaiters();
  }

  /** Whoever waits for room must not wait for ever. */
  releaseWaiters(): void {
    const blocked = this.#blocked;
    this.#blocked = undefined;
    blocked?.resolve();
  }

  /** From now on messages are dropped and counted. */
  shut(): void {
    this.#open = false;
    this.releaseWaiters();
  }
}
