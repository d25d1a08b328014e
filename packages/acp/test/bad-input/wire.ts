// A connection to the subject, seen from the hostile side: frames out, frames in, and how it ended. Memory is here;
// WebSocket and stdio need Node and are in their tests.

import type { FrameLimits } from "../../src/transport/byte-channel.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import type { Frame } from "./bad-input.ts";
import { type Report, type SubjectOptions, startSubject } from "./subject.ts";

export interface Wire {
  /** One frame, with whatever ends a frame on this transport. */
  send(frame: Frame): void;
  /** The next frame of the subject. Rejects when there will be none. */
  next(): Promise<string>;
  /** How the subject's connection ended, in its own words. */
  readonly ended: Promise<{ readonly kind: string }>;
  /** Gives everything back. Idempotent. */
  close(): Promise<void>;
  /** stdio only. */
  readonly stream?: ByteStream;
}

/** What only a stream of bytes can do. */
export interface ByteStream {
  write(bytes: Uint8Array | string): void;
  /** Ends what the subject reads; what it writes is still read. */
  end(): void;
  /** The agent's own last words, where the subject is one. */
  readonly lastWords?: Promise<LastWords>;
}

/** What a subject in a process of its own says when its connection has ended. */
export interface LastWords {
  readonly kind: string;
  readonly report: Report;
  readonly peakBytes: number;
  readonly exitCode: number | null;
}

export interface LinkOptions extends SubjectOptions {
  /** Bytes of one message. Default: the transport's own, 32 MiB. */
  readonly maxMessageBytes?: number;
}

export type OpenLink = (options: LinkOptions) => Wire | Promise<Wire>;

export function frameLimits({ maxMessageBytes }: LinkOptions): Partial<FrameLimits> {
  return maxMessageBytes === undefined ? {} : { maxMessageBytes };
}

/** Frames that have come and those who wait for one. */
export class Inbox {
  #frames: string[] = [];
  #taken = 0;
  #waiting: PromiseWithResolvers<string> | undefined;
  #end: Error | undefined;

  push(frame: string): void {
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#frames.push(frame);
      return;
    }
    this.#waiting = undefined;
    waiting.resolve(frame);
  }

  end(why: string): void {
    this.#end ??= new Error(why);
    this.#waiting?.reject(this.#end);
  }

  next(): Promise<string> {
    const frame = this.#frames[this.#taken];
    if (frame !== undefined) {
      this.#taken++;
      if (this.#taken === this.#frames.length) {
        this.#frames = [];
        this.#taken = 0;
      }
      return Promise.resolve(frame);
    }
    if (this.#end !== undefined) return Promise.reject(this.#end);
    this.#waiting = Promise.withResolvers<string>();
    return this.#waiting.promise;
  }
}

/** Cuts a stream of text into lines. */
export function lineSplitter(line: (text: string) => void): (chunk: string) => void {
  let rest: string[] = [];
  return (chunk) => {
    const pieces = chunk.split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      line(rest.join("") + piece);
      rest = [];
    }
    if (last !== "") rest.push(last);
  };
}

export const openMemoryLink: OpenLink = (options) => {
  const [near, far] = memoryPair({ limits: frameLimits(options) });
  const inbox = new Inbox();
  const subject = startSubject(near, options);
  far.start({
    message: (_value, text) => inbox.push(text),
    idle: () => undefined,
    reject: (fault) => inbox.push(`unreadable: ${fault.kind}`),
    drain: () => undefined,
    end: (reason) => inbox.end(`the subject has gone: ${reason.kind}`),
  });
  return {
    send(frame) {
      if (typeof frame !== "string") throw new TypeError("memory carries text, not bytes");
      far.send({}, frame);
    },
    next: () => inbox.next(),
    ended: subject.closed,
    async close() {
      await far.close();
      await subject.close();
    },
  };
};
