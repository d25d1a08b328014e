// The handshake of a chain as it passes one component, which may be asked several times.

import { backgroundDeadline, type Deadline } from "../../base/deadline.ts";
import { policyKey } from "../../base/parley-extensions.ts";
import type { Call } from "../../forward/call.ts";
import type { Taker } from "../../forward/port.ts";
import type { PassedAnswer } from "../../jsonrpc/passed-call.ts";

/** The handshake of a chain, as it passed here. */
export interface Handshake {
  readonly call: Call;
  /** What the successor answered. */
  answer: PassedAnswer | undefined;
  text: string | undefined;
  /** Who waits for that answer: the component, and the one that was started in its place. */
  readonly takers: Taker[];
  cancel: () => void;
  /** How often the component has ended before it did anything. */
  earlyEnds: number;
}

/** One try to introduce a component. */
export interface Attempt {
  readonly handshake: Handshake;
  readonly taker: Taker;
  /** The answer of the successor is known, and not asked for again. */
  readonly isAgain: boolean;
  hasAskedSuccessor: boolean;
  hasFallenBack: boolean;
  /** It ended at the first question: it did not know it, or it ended for another reason. */
  isInDoubt: boolean;
  /** How often it has been asked: only the answer to the last question counts. */
  questions: number;
  isOver: boolean;
}

export function newHandshake(call: Call): Handshake {
  return {
    call,
    answer: undefined,
    text: undefined,
    takers: [],
    cancel: () => undefined,
    earlyEnds: 0,
  };
}

/** The mark is about one component, and those before it have their own. */
export function withoutMark(result: unknown): unknown {
  const { _meta, ...rest } = result as { readonly _meta: Readonly<Record<string, unknown>> }; // it has the mark
  const { [policyKey]: _, ...meta } = _meta;
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

/**
 * Calls back when the component has not gone on for this long: it has not asked its successor, or it has not answered since it
 * knows what that says. How long the successor takes is not its concern. Returns what stops that.
 */
export function whileUnanswered(attempt: Attempt, ms: number, late: () => void): () => void {
  const waitsForSuccessor = () => attempt.hasAskedSuccessor && attempt.handshake.answer === undefined;
  return whileExcused(ms, waitsForSuccessor, late);
}

/** Calls back after a time in which there was no excuse, at its beginning or at its end. Returns what stops that. */
export function whileExcused(ms: number, isExcused: () => boolean, late: () => void): () => void {
  let timer: Deadline;
  let wasExcused = false;
  const look = (): void => {
    const isNow = isExcused();
    // it gets the whole time after what it waits for
    if (!isNow && !wasExcused) return late();
    wasExcused = isNow;
    timer = backgroundDeadline(ms, look);
  };
  timer = backgroundDeadline(ms, look);
  return () => clearTimeout(timer);
}
