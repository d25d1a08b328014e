// The options and the report of a replay.

import type { Clock } from "../testing/gates.ts";

/** The pace and patience of a replay. */
export interface ReplayOptions {
  /** "fast" (default) sends without delays, "recorded" keeps the recorded time between messages. */
  readonly pace?: "fast" | "recorded" | undefined;
  /**
   * How long to wait for a request or an answer while nothing arrives, in milliseconds; then it is a divergence.
   * Default Infinity.
   */
  readonly timeoutMs?: number | undefined;
  /** The clock for `pace: "recorded"`. Default: real time. */
  readonly clock?: Clock | undefined;
}

/** A difference between the live peer and the recording. */
export interface Divergence {
  /** The number of the expected record, from 1. Undefined after the last one. */
  readonly record: number | undefined;
  /** The expected message, in words. */
  readonly expected: string;
  /** The message that arrived instead, in words. */
  readonly got: string;
  /** Both in one sentence. */
  readonly message: string;
}

/** The result of a replay. */
export interface ReplayReport {
  /** The first difference. Undefined when the live peer behaved like the recorded one. */
  readonly divergence: Divergence | undefined;
  /** The number of lines that were sent. */
  readonly sent: number;
  /** Requests, answers and notifications that arrived as recorded. */
  readonly matched: number;
  /** Recorded notifications that did not arrive. */
  readonly missing: number;
  /** Notifications that arrived without being recorded. */
  readonly extra: number;
  /** Recorded lines that cannot be sent again, because they were not UTF-8. */
  readonly skipped: number;
  /** How the recorded agent exited, if known. */
  readonly exit: { readonly code?: number; readonly signal?: string } | undefined;
}

/** A replay in progress. */
export interface Replay {
  /** Resolves at the end of the recording or at a divergence. Never rejects. */
  readonly done: Promise<ReplayReport>;
  /** Describes what is awaited now, if anything. */
  waitingFor(): string | undefined;
  /** Ends the replay; `done` resolves with the awaited message as the divergence. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
