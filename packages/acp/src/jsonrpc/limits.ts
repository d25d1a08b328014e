// Every bound of a connection, with its default. What a transport bounds (bytes, depth, queued
// output) is in transport/frame-limits.ts.

export interface ConnectionLimits {
  /** Requests of the peer that run at once. One more is answered -32065. Default 16,384. */
  readonly maxInFlight: number;
  /** The same per scope (for ACP: per session). Default 256. */
  readonly maxInFlightPerScope: number;
  /** Characters of the requests of the peer that run at once. One more is answered -32065. Default 64 MiB. */
  readonly maxInFlightBytes: number;
  /** Characters of a string id. Default 1,024. */
  readonly maxIdLength: number;
  /** Entries of one batch. Default 10,000. */
  readonly maxBatchEntries: number;
  /** Characters of the answers to one batch; what is beyond becomes -32063. Default 32 MiB. */
  readonly maxBatchAnswerBytes: number;
  /**
   * Characters of answers that wait for the rest of their batches, in all. Beyond it results become
   * -32063, and the requests of a new batch -32065. Default 32 MiB.
   */
  readonly maxHeldBatchBytes: number;
  /** Answers with `id: null` per second; further ones are only counted. Default 10. */
  readonly maxNullIdErrorsPerSecond: number;
  /** Frames and messages that cannot be read, per second; then the connection closes. Default 10,000. */
  readonly maxRefusedPerSecond: number;
  /** Lines of noise before the first good message; then the connection closes. Default 100. */
  readonly maxNoiseLines: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  maxInFlight: 16_384,
  maxInFlightPerScope: 256,
  maxInFlightBytes: 64 * 1024 * 1024,
  maxIdLength: 1_024,
  maxBatchEntries: 10_000,
  maxBatchAnswerBytes: 32 * 1024 * 1024,
  maxHeldBatchBytes: 32 * 1024 * 1024,
  maxNullIdErrorsPerSecond: 10,
  maxRefusedPerSecond: 10_000,
  maxNoiseLines: 100,
};

/** The defaults, changed by what was given. `undefined` changes nothing; a bound is a number above 0. */
export function limitsFrom<Limits extends { readonly [Name in keyof Limits]: number }>(
  defaults: Limits,
  given: Partial<Limits> | undefined,
): Limits {
  const limits = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof Limits & string)[]) {
    // callers without types pass anything
    const value: unknown = given?.[name];
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value > 0)) {
      throw new TypeError(`limits.${name}: got ${String(value)}, want a number above 0 or Infinity`);
    }
    Object.assign(limits, { [name]: value });
  }
  return limits;
}
