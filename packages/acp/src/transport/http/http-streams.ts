// Manages the event streams of one connection: its own and one for each session.

import type { Sink } from "../../jsonrpc/transport.ts";
import type { FrameLimits } from "../frame-limits.ts";
import type { HttpEndpoint } from "./http-endpoint.ts";
import { HttpStream, type StreamHost } from "./http-stream.ts";
import type { Pacing } from "./pacing.ts";

export interface StreamsHost {
  readonly endpoint: HttpEndpoint;
  readonly limits: FrameLimits;
  readonly pacing: Pacing;
  /** The headers that name the stream of a session or, for undefined, of the connection. */
  headers(session: string | undefined): Readonly<Record<string, string>>;
  /** Receives the messages of a stream. */
  receiver(session: string | undefined): Pick<Sink, "message" | "reject" | "idle">;
  lost: StreamHost["lost"];
}

export class HttpStreams {
  readonly #host: StreamsHost;
  readonly #streams = new Map<string | undefined, HttpStream>();
  #isPaused = false;

  constructor(host: StreamsHost) {
    this.#host = host;
  }

  /** Returns the stream of a session, opened on first use. One that cannot be opened is forgotten, to be tried again. */
  stream(session: string | undefined): HttpStream {
    const known = this.#streams.get(session);
    if (known !== undefined) return known;
    const { endpoint, limits, pacing, headers, receiver, lost } = this.#host;
    const whose = session === undefined ? "the connection" : "a session";
    const stream = new HttpStream(
      { endpoint, limits, pacing, headers: headers(session), whose, ...receiver(session), lost },
      this.#isPaused,
    );
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
