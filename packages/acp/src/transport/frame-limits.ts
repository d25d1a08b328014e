// The limits of a transport.

import type { EndReason } from "../jsonrpc/transport.ts";

export interface FrameLimits {
  /** Bytes of one message. A larger one is refused; one over twice the limit closes the transport. Default 32 MiB. */
  readonly maxMessageBytes: number;
  /** Nesting of one message. Default 512. */
  readonly maxDepth: number;
  /** Queued output above which `send` returns false. Default 256 KiB. */
  readonly highWaterBytes: number;
  /** Queued output above which the transport closes with "overflow". Default 64 MiB. */
  readonly maxQueuedBytes: number;
}

export const defaultFrameLimits: FrameLimits = {
  maxMessageBytes: 32 * 1024 * 1024,
  maxDepth: 512,
  highWaterBytes: 256 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
};

/** The end of a transport whose queued output is over the limit. */
export function overflow(queuedBytes: number): EndReason {
  return {
    kind: "overflow",
    message: `the peer does not read: ${queuedBytes} bytes of output are queued`,
  };
}
