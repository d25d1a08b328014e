// Implements the client side of plain POST: one request for each message, and the answer in its body. There is no stream for
// anything else.

import { withTimeout } from "../../base/abortable.ts";
import { milliseconds } from "../../base/deadline.ts";
import { limitsFrom } from "../../jsonrpc/connection-options.ts";
import { closedHere, type EndReason, type Sink, type Transport } from "../../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits, overflow, webPlatform } from "../byte-channel.ts";
import { frameParser } from "../frame-parser.ts";
import { EventDecoder } from "./event-decoder.ts";
import { type Answer, type Call, HttpEndpoint, readText } from "./http-endpoint.ts";
import { asFailure, endOf, HttpFailure, networkWords } from "./http-failure.ts";
import type { HttpClientOptions } from "./http-options.ts";

/** Decides by a message what its failure means; the transport itself does not read messages. */
export interface PlainRouting {
  isRequest(message: object): boolean;
  /** The answer to a request that has failed. */
  failed(message: object, failure: HttpFailure): object;
}

const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const wanted = "200 with content of type application/json";
/** These end the connection: no answer, unauthorised, or nobody there. */
const finalStatuses: ReadonlySet<number | undefined> = new Set([undefined, 401, 404, 410]);

interface Queued {
  readonly message: object;
  readonly text: string;
}

export class PlainPostTransport implements Transport {
  readonly #endpoint: HttpEndpoint;
  readonly #routing: PlainRouting;
  readonly #limits: FrameLimits;
  readonly #closeTimeoutMs: number;
  #sink: Sink | undefined;
  #queue: Queued[] = [];
  #queuedChars = 0;
  #hasRoom = true;
  #isSending = false;
  #isOpen = false;
  #isOver = false;
  #closing: Promise<void> | undefined;
  /** What some servers call the connection. It is named only to end it. */
  #connectionId: string | undefined;
  #paused: PromiseWithResolvers<void> | undefined;

  constructor(url: URL, routing: PlainRouting, options: HttpClientOptions = {}) {
    this.#endpoint = new HttpEndpoint(url, options);
    this.#routing = routing;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#closeTimeoutMs = milliseconds("closeTimeoutMs", options.closeTimeoutMs ?? 1_000);
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#sendNext();
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    if (this.#isOver) return true;
    this.#queue.push({ message, text });
    this.#queuedChars += text.length;
    const { highWaterBytes, maxQueuedBytes } = this.#limits;
    if (this.#queuedChars > maxQueuedBytes) {
      this.#end(overflow(this.#queuedChars));
      return false;
    }
    if (this.#queuedChars > highWaterBytes) this.#hasRoom = false;
    this.#sendNext();
    return this.#hasRoom;
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  async #shut(): Promise<void> {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end(closedHere);
    this.#stop();
    if (this.#connectionId === undefined) return;
    const call: Call = {
      method: "DELETE",
      headers: { "Acp-Connection-Id": this.#connectionId },
      wanted: "202",
    };
    const ended = this.#endpoint.call(call).then(({ release }) => release());
    // its answer does not matter
    await withTimeout(
      this.#closeTimeoutMs,
      ended.catch(() => undefined),
    );
    this.#endpoint.abort();
  }

  #stop(): void {
    this.#isOver = true;
    this.#queue = [];
    this.resume();
    this.#endpoint.abort();
  }

  #end(reason: EndReason): void {
    if (this.#isOver) return;
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    sink?.end(reason);
  }

  #sendNext(): void {
    if (this.#sink === undefined || this.#isSending || this.#queue.length === 0) return;
    this.#isSending = true;
    // deferred, so that the sink is not called inside send()
    void Promise.resolve().then(() => this.#sendAll());
  }

  /** A request does not hold up what follows, such as its cancel. Everything else arrives before the next message is sent. */
  async #sendAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const done = this.#sendOne(next);
      if (!this.#isOpen || !this.#routing.isRequest(next.message)) await done;
    }
    this.#isSending = false;
  }

  async #sendOne({ message, text }: Queued): Promise<void> {
    const isRequest = this.#routing.isRequest(message);
    let hasAnswer = false;
    try {
      hasAnswer = await this.#posted(text);
      this.#isOpen = true;
      if (isRequest && !hasAnswer && !this.#isOver)
        throw new HttpFailure(`POST ${this.#endpoint.shown}: expected ${wanted}, got no message`, {
          status: 200,
        });
    } catch (error) {
      const failure = asFailure(error);
      if (!this.#isOpen || finalStatuses.has(failure.status))
        this.#end({ ...endOf(failure), ...(failure.status === 200 && { kind: "closed" as const }) });
      // nobody waits for the others
      else if (isRequest) this.#deliver(JSON.stringify(this.#routing.failed(message, failure)));
    }
    this.#queuedChars -= text.length;
    if (this.#hasRoom || this.#queuedChars > this.#limits.highWaterBytes) return;
    this.#hasRoom = true;
    this.#sink?.drain();
  }

  /** Returns whether there was a message in the answer. */
  async #posted(body: string): Promise<boolean> {
    const call: Call = { method: "POST", headers, body, wanted };
    const answer = await this.#endpoint.call(call);
    const { response } = answer;
    this.#connectionId ??= response.headers.get("acp-connection-id") ?? undefined;
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok) throw await this.#endpoint.failure(call, answer);
    try {
      if (/^text\/event-stream\b/i.test(type)) return await this.#readEvents(answer);
      const text = await readText(response, this.#limits.maxMessageBytes + 1);
      return text.trim() !== "" && this.#deliver(text);
    } catch (cause) {
      const words = `POST ${this.#endpoint.shown}: the answer was cut off: ${networkWords(cause)}`;
      throw new HttpFailure(words, { cause });
    } finally {
      answer.release();
    }
  }

  async #readEvents({ response }: Answer): Promise<boolean> {
    let failure: Error | undefined;
    const decoder = new EventDecoder(
      {
        message: (value, text) => this.#sink?.message(value, text),
        reject: (fault) => this.#sink?.reject(fault),
        fatal: (_, message) => {
          failure = new Error(message);
        },
      },
      this.#limits,
      webPlatform,
    );
    const reader = response.body?.getReader();
    while (reader !== undefined && failure === undefined && !this.#isOver) {
      await this.#paused?.promise;
      const { done, value } = await reader.read();
      if (done) break;
      decoder.push(value);
      this.#sink?.idle();
    }
    if (failure !== undefined) throw failure;
    return decoder.events > 0;
  }

  /** Passes the message on, or each one of a list. Returns whether there was one. */
  #deliver(text: string): boolean {
    let count = 0;
    const parser = frameParser(
      {
        message: (value, source) => {
          const all: [unknown, string][] = Array.isArray(value)
            ? value.map((each) => [each, JSON.stringify(each)])
            : [[value, source]];
          count += all.length;
          for (const [each, its] of all) this.#sink?.message(each, its);
        },
        reject: (fault) => this.#sink?.reject(fault),
      },
      this.#limits,
      webPlatform,
    );
    parser.frame(text);
    this.#sink?.idle();
    return count > 0;
  }
}
