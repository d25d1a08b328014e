// Every bound of a transport, with its default.

export interface FrameLimits {
  /** Bytes of one message. A larger one is drained and refused; twice as much without an end closes. Default 32 MiB. */
  readonly maxMessageBytes: number;
  /** Nesting of one message. Default 512. */
  readonly maxDepth: number;
  /** Queued output at which `send` begins to return false. Default 256 KiB. */
  readonly highWaterBytes: number;
  /** Queued output at which the transport closes with "overflow". Default 64 MiB. */
  readonly maxQueuedBytes: number;
}

export const defaultFrameLimits: FrameLimits = {
  maxMessageBytes: 32 * 1024 * 1024,
  maxDepth: 512,
  highWaterBytes: 256 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
};
