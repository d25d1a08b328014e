// The options of a connection by Streamable HTTP.

import type { FrameLimits } from "../byte-channel.ts";

/**
 * The form of the standard `fetch` that is used.
 *
 * @inline
 */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The options of `httpTransport`. */
export interface HttpTransportOptions {
  /** Sent with every request, such as `authorization`. Errors and logs never show them. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sends the requests. Default: the global `fetch`. Where a server was silent for too long, the signal of a request is
   * aborted with a `TimeoutError`: its socket may be dead.
   */
  readonly fetch?: Fetch | undefined;
  /** Whether to keep the cookies of the server and send them back. Default true. */
  readonly cookies?: boolean | undefined;
  /** Lets `http:` go to other machines too, where anybody on the way can read the headers. Default false. */
  readonly allowPlainText?: boolean | undefined;
  /**
   * Sends each message as a POST of its own and reads the answer in its body, for agents that know no event streams. Such an
   * agent cannot ask the client anything, and updates arrive only in the answer to a prompt. Default false.
   */
  readonly plainPost?: boolean | undefined;
  /** The largest message, and how much output may wait. */
  readonly limits?: Partial<FrameLimits> | undefined;
  /**
   * How long the server may take to accept a message, in milliseconds. The first one has no limit, because the server
   * may have to start an agent. Default 60,000.
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long a message waits for the stream of its session before it is sent anyway, in milliseconds.
   * Default 5,000.
   */
  readonly openTimeoutMs?: number | undefined;
  /** How long `close` waits for queued messages, and then for the DELETE, in milliseconds. Default 1,000. */
  readonly closeTimeoutMs?: number | undefined;
  /**
   * How long a server that can resume may be silent before a request is sent again and a stream is opened again, in
   * milliseconds. Default 45,000.
   */
  readonly silenceMs?: number | undefined;
  /** How often an idle client tells a server that can resume that it is there, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number | undefined;
  /** Retries in a row while the server is busy. Default 5. */
  readonly maxRetries?: number | undefined;
  /** The pause before the first retry in milliseconds; it doubles each time. Default 100. */
  readonly backoffMs?: number | undefined;
  /**
   * Called with true when the server cannot be reached and the connection waits to be resumed, and with false when it goes
   * on. `keptMs` is how long the server keeps it after the cut. Its end is not reported here.
   */
  readonly onCut?: ((isCut: boolean, keptMs: number) => void) | undefined;
}

/** What the transport itself needs of them. */
export type HttpClientOptions = Omit<HttpTransportOptions, "allowPlainText" | "plainPost">;
