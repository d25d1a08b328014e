// Says what a transport must do when a case of the contract suite cannot run or waits in vain.

import type { ContractException, TransportPair } from "./transport-pair.ts";

export const counted = (count: number) => `${count} ${count === 1 ? "message" : "messages"}`;

// What a medium must do, for the error of a case that waits in vain.
export const delivers = "Each message that the other end sends must reach sink.message, in order.";
export const queues =
  "What one end sends before the other end has started must wait in the medium: queue it until start() opens the other end.";
export const splits =
  "Each call of bytesToNear is a chunk. A chunk may hold a part of a message or many; check that `encode` frames a message as the transport does.";
export const reports =
  "A frame that is not JSON must reach sink.reject, and the frame after it sink.message.";
export const overflows =
  'When the peer does not read and more than limits.maxQueuedBytes wait, call sink.end with the kind "overflow". ' +
  'A medium that cannot tell needs the exception "back-pressure".';
export const ends = "When the other end closes, ends its output or is gone, call sink.end once.";
export const drainsAgain =
  "After send has returned false, call sink.drain when there is room again. " +
  'A medium that cannot tell needs the exception "back-pressure".';
export const resumes =
  "What arrives while a transport is paused must be delivered after resume(). A medium " +
  'that cannot wait needs the exception "pause".';

/** The part of a pair that a case works with. */
const parts: Readonly<Partial<Record<ContractException, keyof TransportPair>>> = {
  bytes: "bytesToNear",
  malformed: "frameToNear",
  "half-close": "halfClose",
  cut: "cut",
};

/** Throws for a pair that lacks what the case works with: it would wait in vain. */
export function checkParts(pair: TransportPair, needs: readonly ContractException[]): void {
  for (const need of needs) {
    const part = parts[need];
    if (part === undefined || pair[part] !== undefined) continue;
    throw new TypeError(
      `this case needs \`${part}\` in the pair of transports, got none: return it from the function that makes the pair, ` +
        `or except the case with a reason, as exceptions: { "${need}": "why the transport cannot do this" }`,
    );
  }
}
