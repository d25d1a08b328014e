// The pair of transports that the contract suite tests, and its options.

import type { Transport } from "../../jsonrpc/transport.ts";
import type { FrameLimits } from "../../transport/byte-channel.ts";

/** Two connected transports. The test closes both. */
export interface TransportPair {
  /** The transport under test. */
  readonly near: Transport;
  /** The same kind of transport at the other end. */
  readonly far: Transport;
  /** Sends a text to `near` as one frame, valid or not. */
  readonly frameToNear?: ((text: string) => void) | undefined;
  /** Writes bytes to `near`. Each call is one chunk, if the transport keeps chunks. */
  readonly bytesToNear?: ((bytes: Uint8Array) => void) | undefined;
  /** Ends the output of the far side, and not its input. */
  readonly halfClose?: (() => void) | undefined;
  /**
   * Sends the message from `near` until it is full or has ended, and resolves with the count. Needed only if `send`
   * cannot tell at once whether there is room.
   */
  readonly fillNear?: ((message: object, until: "full" | "end") => Promise<number>) | undefined;
  /** Breaks the connection without closing it. */
  readonly cut?: (() => void) | undefined;
  /** Closes what the pair needs besides the two transports, such as servers and processes. */
  readonly dispose?: (() => Promise<void>) | undefined;
}

/** A case that some transports cannot express. "refused" are frames over a limit, which some transports refuse to their sender. */
export type ContractException =
  | "bytes"
  | "half-close"
  | "cut"
  | "pause"
  | "malformed"
  | "refused"
  | "back-pressure"
  | "unopened";

/** The limits of a transport, and its encoding of messages. */
export interface ContractOptions {
  /** The reasons why tests of these cases are skipped. */
  readonly exceptions?: Readonly<Partial<Record<ContractException, string>>> | undefined;
  /** Encodes one message for `bytesToNear`. Default: a line of UTF-8. */
  readonly encode?: ((text: string) => Uint8Array) | undefined;
}

/** Creates two connected transports with these limits. */
export type MakeTransportPair = (limits: Partial<FrameLimits>) => Promise<TransportPair> | TransportPair;

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
