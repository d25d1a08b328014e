// The settings of a connection by HTTP.

import type { FrameLimits } from "../byte-channel.ts";

/** The settings of a connection by HTTP. */
export interface HttpTransportOptions {
  /** Sent with every request; never shown in errors. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Lets `http:` go to other machines too, where anybody on the way can read the headers. Default false. */
  readonly allowPlainText?: boolean;
  /** Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Whether to store cookies and send them back. Default true. */
  readonly cookies?: boolean;
  /** The largest message, and how much output may be queued. */
  readonly limits?: Partial<FrameLimits>;
  /**
   * How long the server may take to accept a message. Default 60,000 ms. There is no limit for the first one, because
   * the server may have to start an agent.
   */
  readonly requestTimeoutMs?: number;
  /** How long a message waits for the stream of its session before it is sent anyway. Default 5,000 ms. */
  readonly openTimeoutMs?: number;
  /** How long `close` waits for queued messages and for the DELETE. Default 1,000 ms. */
  readonly closeTimeoutMs?: number;
  /** Retries in a row while the server is busy. Default 5. */
  readonly maxRetries?: number;
  /** The pause before the first retry, doubled each time. Default 100 ms. */
  readonly backoffMs?: number;
}
