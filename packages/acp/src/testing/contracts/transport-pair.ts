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
