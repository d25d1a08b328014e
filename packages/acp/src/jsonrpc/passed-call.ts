// What a connection and a forwarder exchange: requests that are passed on, and their answers.

import type { EndReason, Sink } from "./transport.ts";

/** An answer as it came. */
export interface PassedAnswer {
  /** What the method gave. */
  readonly result?: unknown;
  /** Why it failed, as it is on the wire. */
  readonly error?: unknown;
}

/** Takes the answer to a request that is forwarded, in the step in which it is read. */
export interface AnswerTaker {
  /** The answer has either a result or an error. `text` is the whole message. */
  answered(answer: PassedAnswer, text: string): void;
  /** There is no answer. */
  failed(error: Error): void;
}

/** For a forwarder, beside the options of a connection. */
export interface ForwardHooks {
  /** Told that the input has ended: what runs may still be answered. */
  readonly ended?: ((reason: EndReason) => void) | undefined;
  /** After the end of input it stays open, for what may still be sent, until it is closed. */
  readonly lingers?: boolean | undefined;
  /** Takes lines before they are parsed, as `Sink.unread` does. */
  readonly unread?: Sink["unread"] | undefined;
}

/** A request to forward. */
export interface PassedCall {
  /** The name of the method. */
  readonly method: string;
  /** Its params. */
  readonly params: unknown;
  /** The whole message as JSON, with this id. */
  text(id: number): string;
}

type Taker = (answer: PassedAnswer, text: string | undefined) => void;

/**
 * What a handler returns for a request whose answer comes from somebody else. Unlike a promise it is settled in the step in
 * which the answer is read: nothing that is read later can overtake it.
 */
export class LateAnswer {
  #taker: Taker | undefined;
  #given: Parameters<Taker> | undefined;
  readonly #ask: (() => void) | undefined;

  /** `ask` is called once somebody takes the answer, and must not throw: the answer may be given at once, and more be sent behind it. */
  constructor(ask?: (late: LateAnswer) => void) {
    this.#ask = ask && (() => ask(this));
  }

  get isGiven(): boolean {
    return this.#given !== undefined;
  }

  /** Gives the answer; only the first one counts. `text` is the message that it came in, whatever its id. */
  give(answer: PassedAnswer, text?: string): void {
    if (this.#given !== undefined) return;
    this.#given = [answer, text];
    this.#taker?.(answer, text);
  }

  take(taker: Taker): void {
    this.#taker = taker;
    if (this.#given === undefined) this.#ask?.();
    else taker(...this.#given);
  }
}
