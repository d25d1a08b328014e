// Manages the event streams of one connection: its own and one for each session.

import { HttpStream, type StreamHost } from "./http-stream.ts";

export class HttpStreams {
  readonly #hostFor: (session: string | undefined) => StreamHost;
  readonly #streams = new Map<string | undefined, HttpStream>();
  #isPaused = false;

  /** `hostFor` gives the host of a session's stream or, for undefined, of the connection's. */
  constructor(hostFor: (session: string | undefined) => StreamHost) {
    this.#hostFor = hostFor;
  }

  /** Returns the stream of a session, opened on first use. One that cannot be opened is forgotten, to be tried again. */
  stream(session: string | undefined): HttpStream {
    const known = this.#streams.get(session);
    if (known !== undefined) return known;
    const stream = new HttpStream(this.#hostFor(session), this.#isPaused);
    this.#streams.set(session, stream);
    stream.opened.catch(() => {
      if (this.#streams.get(session) === stream) this.#streams.delete(session);
    });
    return stream;
  }

  pause(): void {
    this.#isPaused = true;
    for (const stream of this.#streams.values()) stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const stream of this.#streams.values()) stream.resume();
  }

  close(session: string): void {
    this.#streams.get(session)?.close();
    this.#streams.delete(session);
  }

  closeAll(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
  }
}
