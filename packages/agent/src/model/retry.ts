// Retries model requests with growing, jittered pauses; time and randomness are injected.

import { setTimeout } from "node:timers/promises";
import { resumeRequest } from "./agent-requests.ts";
import { assistantMessage } from "./assistant-message.ts";
import { ModelError, type ModelEvent, type ModelMessage, type ModelRequest } from "./model.ts";

export interface RetryClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Rejects at once when the signal is or becomes aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 to 1. */
  random(): number;
}

export interface RetryPolicy {
  /** Including the first one. */
  readonly attempts: number;
  /** The first pause, doubled every time. */
  readonly baseMs: number;
  /** The longest pause. If a provider asks for a longer one, the user gets the error instead. */
  readonly maxMs: number;
}

export const defaultRetries: RetryPolicy = { attempts: 5, baseMs: 1000, maxMs: 60_000 };

/** A failed attempt, and whether it may succeed later. */
export class Failure extends Error {
  readonly error: ModelError;
  readonly isRetryable: boolean;
  /** Whether the answer broke off between two blocks. */
  isAfterBlock = false;

  constructor(error: ModelError, isRetryable: boolean) {
    super(error.message);
    this.error = error;
    this.isRetryable = isRetryable;
  }
}

export const systemClock: RetryClock = {
  now: Date.now,
  random: Math.random,
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
};

/**
 * The events of an answer. An attempt that broke off in the middle is repeated too: no call runs before the end of an
 * answer, so nothing was done. Whole blocks of it are sent along and continued. Attempts throw `Failure`; this throws
 * ModelError.
 */
export async function* withRetries(
  attempt: (request: ModelRequest) => AsyncIterable<ModelEvent>,
  request: ModelRequest,
  policy: RetryPolicy,
  clock: RetryClock,
): AsyncGenerator<ModelEvent> {
  const answer = assistantMessage();
  for (let attempts = 1; ; attempts++) {
    let hasBegun = false;
    try {
      for await (const event of attempt(continued(request, answer.message))) {
        hasBegun = true;
        answer.add(event);
        yield event;
      }
      return;
    } catch (error) {
      if (request.signal.aborted) throw aborted();
      if (!(error instanceof Failure)) throw error;
      const delayMs = pause(error.error, attempts, policy, clock);
      if (!error.isRetryable || attempts >= policy.attempts || delayMs > policy.maxMs) {
        throw attempts === 1 ? error.error : afterAttempts(error.error, attempts);
      }
      const { kind, message } = error.error;
      if (hasBegun) {
        const { isAfterBlock } = error;
        answer.interrupt({ isAfterBlock });
        yield { type: "interrupted", reason: message, isAfterBlock };
      }
      request.onWait?.({ kind, reason: message, delayMs, attempt: attempts, attempts: policy.attempts });
      await clock.wait(delayMs, request.signal).catch(() => {
        throw aborted();
      });
    }
  }
}

/** The request, with the whole blocks of an answer that broke off. */
function continued(
  request: ModelRequest,
  message: Extract<ModelMessage, { role: "assistant" }>,
): ModelRequest {
  if (message.content.length === 0) return request;
  const wish: ModelMessage = { role: "user", content: [{ type: "text", text: resumeRequest }] };
  return { ...request, messages: [...request.messages, message, wish] };
}

export function aborted(): ModelError {
  return new ModelError("aborted", "The request was cancelled.");
}

/** Waits at least half of the full pause: jitter must spread clients without hammering the server. */
function pause(error: ModelError, attempts: number, policy: RetryPolicy, clock: RetryClock): number {
  if (error.retryAfterMs !== undefined) return Math.max(0, error.retryAfterMs);
  const full = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempts - 1));
  return Math.round(full / 2 + (full / 2) * clock.random());
}

function afterAttempts(error: ModelError, attempts: number): ModelError {
  return new ModelError(error.kind, `${error.message} (after ${attempts} attempts)`, {
    retryAfterMs: error.retryAfterMs,
    cause: error.cause,
  });
}
