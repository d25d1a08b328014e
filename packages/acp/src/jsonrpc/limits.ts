// The limits of a connection; those of a transport are in transport/frame-limits.ts.

export interface ConnectionLimits {
  /** Requests of the peer that may run at once; a further one is answered -32065. Default 16,384. */
  readonly maxInFlight: number;
  /** The same per scope (for ACP: per session). Default 256. */
  readonly maxInFlightPerScope: number;
  /** Characters of the peer's running requests together; a further one is answered -32065. Default 64 MiB. */
  readonly maxInFlightBytes: number;
  /** Characters of a string id. Default 1,024. */
  readonly maxIdLength: number;
  /** Entries of one batch. Default 10,000. */
  readonly maxBatchEntries: number;
  /** Characters of the answers to one batch; further answers become -32063. Default 32 MiB. */
  readonly maxBatchAnswerBytes: number;
  /**
   * Characters of all answers that wait for the rest of their batches. Above it results become -32063, and the
   * requests of a new batch -32065. Default 32 MiB.
   */
  readonly maxHeldBatchBytes: number;
  /** Errors with `id: null` per second; further ones are only counted. Default 10. */
  readonly maxNullIdErrorsPerSecond: number;
  /** Invalid frames and messages per second; above it the connection closes. Default 10,000. */
  readonly maxRefusedPerSecond: number;
  /** Lines that are not JSON before the first message; above it the connection closes. Default 100. */
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

/** Merges the given limits into the defaults. Throws a TypeError for a limit that is not above 0. */
export function limitsFrom<Limits extends { readonly [Name in keyof Limits]: number }>(
  defaults: Limits,
  given: Partial<Limits> | undefined,
): Limits {
  const limits = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof Limits & string)[]) {
    // JavaScript callers may pass anything
    const value: unknown = given?.[name];
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value > 0)) {
      throw new TypeError(`limits.${name}: expected a number above 0 or Infinity, got ${String(value)}`);
    }
    Object.assign(limits, { [name]: value });
  }
  return limits;
}
