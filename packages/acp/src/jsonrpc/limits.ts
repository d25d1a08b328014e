// Every bound of a connection, with its default. What a transport bounds (bytes, depth, queued
// output) is in transport/frame-limits.ts.

export interface ConnectionLimits {
  /** Requests of the peer that run at once. One more is answered -32065. Default 16,384. */
  readonly maxInFlight: number;
  /** The same per scope (for ACP: per session). Default 256. */
  readonly maxInFlightPerScope: number;
  /** Characters of a string id. Default 1,024. */
  readonly maxIdLength: number;
  /** Entries of one batch. Default 10,000. */
  readonly maxBatchEntries: number;
  /** Answers with `id: null` per second; further ones are only counted. Default 10. */
  readonly maxNullIdErrorsPerSecond: number;
  /** Lines of noise before the first good message; then the connection closes. Default 100. */
  readonly maxNoiseLines: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  maxInFlight: 16_384,
  maxInFlightPerScope: 256,
  maxIdLength: 1_024,
  maxBatchEntries: 10_000,
  maxNullIdErrorsPerSecond: 10,
  maxNoiseLines: 100,
};
