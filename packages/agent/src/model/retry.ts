// Trying again: with a growing, jittered pause or with the one that the provider asked for, never after something has
// been said already, and ended at once by an abort. Time and chance are injected.

import { ModelError, type ModelEvent, type ModelRequest } from "./model.ts";

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Rejects at once when the signal is or becomes aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 to 1. */
  random(): number;
}

export interface RetryPolicy {
  /** The first one included. */
  readonly attempts: number;
  /** The first pause, doubled every time. */
  readonly baseMs: number;
  /** No pause is longer. A provider that asks for more is not waited for: the user is told when to come back. */
  readonly maxMs: number;
}

export const defaultRetries: RetryPolicy = { attempts: 5, baseMs: 1000, maxMs: 60_000 };

/** A failure, and whether the same request may succeed later. */
export class Failure extends Error {
  readonly error: ModelError;
  readonly again: boolean;

  constructor(error: ModelError, again: boolean) {
    super(error.message);
    this.error = error;
    this.again = again;
  }
}

export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      signal.addEventListener("abort", stop, { once: true });
    }),
};

/** The events of the first attempt that says anything. Attempts throw `Failure`, what comes out is ModelError. */
export async function* withRetries(
  attempt: (request: ModelRequest) => AsyncIterable<ModelEvent>,
  request: ModelRequest,
  policy: RetryPolicy,
  clock: Clock,
): AsyncGenerator<ModelEvent> {
  for (let tried = 1; ; tried++) {
    let said = false;
    try {
      for await (const event of attempt(request)) {
        said = true;
        yield event;
      }
      return;
    } catch (error) {
      if (request.signal.aborted) throw aborted();
      if (!(error instanceof Failure)) throw error;
      const delayMs = pause(error.error, tried, policy, clock);
      if (!error.again || said || tried >= policy.attempts || delayMs > policy.maxMs) {
        throw tried === 1 ? error.error : afterAttempts(error.error, tried);
      }
      const { kind, message } = error.error;
      request.onWait?.({ kind, reason: message, delayMs, attempt: tried });
      await clock.wait(delayMs, request.signal).catch(() => {
        throw aborted();
      });
    }
  }
}

export function aborted(): ModelError {
  return new ModelError("aborted", "The request was cancelled.");
}

/** At least half of the pause is kept: jitter spreads clients, it must not hammer a server that is down. */
function pause(error: ModelError, tried: number, policy: RetryPolicy, clock: Clock): number {
  if (error.retryAfterMs !== undefined) return Math.max(0, error.retryAfterMs);
  const full = Math.min(policy.maxMs, policy.baseMs * 2 ** (tried - 1));
  return Math.round(full / 2 + (full / 2) * clock.random());
}

function afterAttempts(error: ModelError, tried: number): ModelError {
  return new ModelError(error.kind, `${error.message} (after ${tried} attempts)`, {
    retryAfterMs: error.retryAfterMs,
    cause: error.cause,
  });
}
