// Sends the messages of a connection, and pauses input while the peer does not read our answers.

import { mayExceedJsonBytes } from "../base/json-size.ts";
import type { ConnectionCounters, ConnectionOptions } from "./connection-options.ts";
import { RequestError } from "./errors.ts";
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
  /** Whether the connection has ended. Handlers that still run may answer. */
  hasEnded = false;
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
   * `given` is the serialised message. False when the peer is slow. Throws when the message cannot be serialised, or is too
   * large for a peer with our own limits: one message must not end the connection.
   */
  send(message: object, given?: string): boolean {
    const text = this.#admitted(message, given ?? (this.isOpen ? JSON.stringify(message) : ""));
    return text === undefined || this.#sent(this.#transport.send(message, text));
  }

  /**
   * Sends a notification. Returns a promise to await when the peer is slow or the connection has ended. `isLine` says that the text has
   * no line breaks: a search for one would copy a text that was concatenated.
   */
  notify(message: object, given?: string, isLine = false): Promise<void> | undefined {
    const transport = this.#transport;
    if (!isLine || given === undefined || transport.sendLines === undefined)
      return this.#whenRoom(this.send(message, given));
    const isOpen = this.#admitted(message, given) !== undefined;
    return this.#whenRoom(!isOpen || this.#sent(transport.sendLines({ text: `${given}\n` })));
  }

  /** Whether `notifyLines` can be used. */
  get takesLines(): boolean {
    return this.#transport.sendLines !== undefined;
  }

  /** As `notify`, for many notifications as text: whole lines, each of which was checked with `checkSentSize`. */
  notifyLines(text: string): Promise<void> | undefined {
    const { tap, counters } = this.#host;
    const isSeen = tap !== undefined || !this.isOpen;
    for (const line of isSeen ? text.slice(0, -1).split("\n") : []) {
      if (this.isOpen) tap?.("out", line);
      else counters.dropped++;
    }
    return this.#whenRoom(!this.isOpen || this.#sent(this.#transport.sendLines?.({ text }) ?? true));
  }

  /** Checks the size and shows the text to the tap. When nothing is sent any more, counts the message and returns undefined. */
  #admitted(message: object, text: string): string | undefined {
    if (!this.isOpen) {
      this.#host.counters.dropped++;
      return undefined;
    }
    const { tap, maxSentBytes } = this.#host;
    checkSentSize(message, text, maxSentBytes);
    tap?.("out", text);
    return text;
  }

  /** Sends lines that were not parsed, as `notify` sends one message. Undefined if each message must be looked at. */
  get passLines(): ((lines: Lines) => Promise<void> | undefined) | undefined {
    const { tap, maxSentBytes } = this.#host;
    const isChecked = tap !== undefined || maxSentBytes !== Number.POSITIVE_INFINITY;
    if (!this.isOpen || isChecked || this.#transport.sendLines === undefined) return undefined;
    return (lines) => this.#whenRoom(this.#sent(this.#transport.sendLines?.(lines) ?? true));
  }

  #whenRoom(hasRoom: boolean): Promise<void> | undefined {
    if (hasRoom && !this.hasEnded) return undefined;
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

/** Throws when the text of the message is larger than a message may be. */
export function checkSentSize(message: object, text: string, maxBytes: number): void {
  // a UTF-16 unit takes at most three bytes
  if (text.length * 3 <= maxBytes) return;
  const bytes = text.length > maxBytes ? text.length : new TextEncoder().encode(text).byteLength;
  if (bytes <= maxBytes) return;
  const { method } = message as { readonly method?: unknown };
  const what = typeof method === "string" ? method.slice(0, 100) : "the answer";
  throw new RequestError(
    "limit_exceeded",
    `${what}: the message has ${bytes} bytes or more, and at most ${maxBytes} can be sent; send less at once`,
    { data: { reason: "limit_exceeded" } },
  );
}

/** The same check for a message that is sent later. The message is serialised only if it may be too large. */
export function checkParamsSize(method: string, params: object, maxBytes: number): void {
  // leaves room for the rest of the message
  if (!mayExceedJsonBytes(params, maxBytes - 1_024)) return;
  const message = { jsonrpc: "2.0", method, params };
  checkSentSize(message, JSON.stringify(message), maxBytes);
}
