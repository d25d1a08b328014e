// A wire below a client's connection that another connection can take over between any two messages.

import { isObject } from "@parley/acp/jsonrpc";
import type { EndReason, Sink, Transport } from "@parley/acp/transport";

type Event =
  | { readonly what: "in" | "out"; readonly text: string }
  | { readonly what: "event"; tell(sink: Sink): void };

/** Called between two messages with the number of those before. Resolves when the wire may go on. */
export type BetweenMessages = (count: number) => Promise<void> | undefined;

export class CutWire {
  /** All messages so far, in the order in which they passed. */
  readonly passed: { readonly way: "in" | "out"; readonly message: unknown }[] = [];
  readonly #inner: Transport;
  readonly #between: BetweenMessages;
  #sink: Sink | undefined;
  #generation = 0;
  #events: Event[] = [];
  #isPumping = false;
  #isEnded = false;
  #count = 0;
  #pause: Promise<void> | undefined;

  constructor(inner: Transport, between: BetweenMessages) {
    this.#inner = inner;
    this.#between = between;
  }

  /** A transport that goes on with the wire. What the one before it sends from now on is dropped. */
  attach(): Transport {
    const generation = ++this.#generation;
    const isAlive = () => generation === this.#generation;
    this.#sink = undefined;
    return {
      start: (sink) => {
        this.#sink = sink;
        if (generation === 1) this.#start();
      },
      send: (_message, text = "") => {
        if (isAlive()) this.#sent(text);
        return true;
      },
      pause: () => undefined,
      resume: () => undefined,
      close: async (reason) => {
        if (!isAlive()) return;
        await this.#idle();
        await this.#inner.close(reason);
      },
    };
  }

  #start(): void {
    this.#inner.start({
      message: (_value, text) => this.#add({ what: "in", text }),
      idle: () => undefined,
      reject: (fault) => this.#add({ what: "event", tell: (sink) => sink.reject(fault) }),
      drain: () => undefined,
      end: (reason: EndReason) => {
        this.#isEnded = true;
        this.#add({ what: "event", tell: (sink) => sink.end(reason) });
      },
    });
  }

  #sent(text: string): void {
    this.#add({ what: "out", text });
    // once the code that sends it has returned
    queueMicrotask(() => this.#mayCut());
  }

  /** One message has passed. */
  #mayCut(): void {
    // the first message and its answer are the handshake
    this.#count++;
    const pause = this.#between(this.#count);
    if (pause !== undefined) this.#pause = pause;
  }

  #add(event: Event): void {
    this.#events.push(event);
    if (!this.#isPumping) void this.#pump();
  }

  async #idle(): Promise<void> {
    while (this.#isPumping) await turn();
  }

  /** Passes one message at a time: both sides have done what they do about it before the next one. */
  async #pump(): Promise<void> {
    this.#isPumping = true;
    await settled();
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) {
      if (event.what === "event") {
        if (this.#sink !== undefined) event.tell(this.#sink);
      } else {
        const message: unknown = JSON.parse(event.text);
        this.passed.push({ way: event.what, message: JSON.parse(event.text) });
        if (event.what === "out") {
          if (!this.#isEnded) this.#inner.send(isObject(message) ? message : {}, event.text);
        } else {
          this.#sink?.message(message, event.text);
          this.#mayCut();
        }
      }
      await settled();
      while (this.#pause !== undefined) {
        const pause = this.#pause;
        this.#pause = undefined;
        await pause;
        await settled();
      }
    }
    this.#isPumping = false;
  }
}

/** Enough turns for what a message starts on either side. */
async function settled(): Promise<void> {
  for (let n = 0; n < 3; n++) await turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
