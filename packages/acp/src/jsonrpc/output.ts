// Sends the messages of a connection, and pauses input while the peer does not read our answers.

import type { ConnectionCounters, ConnectionOptions } from "./connection-options.ts";
import { checkSentSize } from "./sent-size.ts";
import type { Lines, Transport } from "./transport.ts";

export interface OutputHost {
  readonly counters: ConnectionCounters;
  readonly tap: ConnectionOptions["tap"];
  readonly maxSentBytes: number;
  /** Whether the peer still has to answer a request of ours: then input must not be paused. */
  awaitsAnswers(): boolean;
}

export class Output {
  readonly #transport: Transport;
  readonly #host: OutputHost;
  /** Whether anything can be written. */
  isOpen = true;
  #blocked: PromiseWithResolvers<void> | undefined;
  #turn: Promise<void> | undefined;
  #paused = false;

  constructor(transport: Transport, host: OutputHost) {
    this.#transport = transport;
    this.#host = host;
  }

  /** Resolves when there is room again after `send` returned false. */
  get room(): Promise<void> | undefined {
    return this.#blocked?.promise;
  }

  /** Resolves in the next turn of the event loop. */
  get nextTurn(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#turn = undefined;
        resolve();
      }, 0);
    });
    return this.#turn;
  }

  /**
   * `given` is the serialised message, `isLine` that it has no line breaks. False when the peer is slow. Throws when the
   * message cannot be serialised, or is too large for a peer with our own limits: one message must not end the connection.
   */
  send(message: object, given?: string, isLine = given === undefined): boolean {
    if (!this.isOpen) {
      this.#host.counters.dropped++;
      return true;
    }
    const { tap, maxSentBytes } = this.#host;
    const text = given ?? JSON.stringify(message);
    checkSentSize(message, text, maxSentBytes);
    tap?.("out", text);
    return this.#sent(this.#transport.send(message, text, isLine));
  }

  /** Sends lines that nobody has read, as `send` does; undefined where each message must be seen. */
  get sendLines(): ((lines: Lines) => boolean) | undefined {
    const { tap, maxSentBytes } = this.#host;
    const isChecked = tap !== undefined || maxSentBytes !== Number.POSITIVE_INFINITY;
    if (!this.isOpen || isChecked || this.#transport.sendLines === undefined) return undefined;
    return (lines) => this.#sent(this.#transport.sendLines?.(lines) ?? true);
  }

  /** What whoever has sent waits for. `ended` is why nothing is sent any more. */
  whenRoom(hasRoom: boolean, ended: object | undefined): Promise<void> | undefined {
    if (hasRoom && ended === undefined) return undefined;
    return hasRoom ? this.nextTurn : this.room;
  }

  #sent(hasRoom: boolean): boolean {
    // sending may end the connection (overflow): then nobody has to wait
    if (hasRoom || !this.isOpen) return true;
    this.#blocked ??= Promise.withResolvers<void>();
    return false;
  }

  /**
   * Sends an answer, and pauses input when the peer does not read. Input is paused only while we wait for no
   * answer ourselves: the peer then has requests pending and keeps reading, so both sides cannot pause at once.
   */
  sendAnswer(message: object, given?: string): void {
    if (this.send(message, given) || this.#paused || this.#host.awaitsAnswers()) return;
    this.#paused = true;
    this.#transport.pause();
  }

  /** Called when a request was sent: its answer must be read. */
  resumeInput(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#transport.resume();
  }

  drained(): void {
    this.resumeInput();
    this.releaseWaiters();
  }

  /** Resolves `room` for everybody who waits for it. */
  releaseWaiters(): void {
    const blocked = this.#blocked;
    this.#blocked = undefined;
    blocked?.resolve();
  }

  /** Drops and counts all further messages. */
  shut(): void {
    this.isOpen = false;
    this.releaseWaiters();
  }
}
