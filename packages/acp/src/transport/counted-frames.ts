// Counts the messages of a WebSocket connection in both directions, so that a new socket goes on where the last one was
// cut. Both ends do the same. docs/remote.md specifies it.

import { isObject, optional } from "../base/objects.ts";
import { resumeMethod } from "../base/parley-extensions.ts";
import { PeerSilence } from "./peer-silence.ts";
import { type RingLimits, SentRing } from "./sent-ring.ts";

/** Offered by a client that can resume, and chosen by a server that can. */
export const resumeProtocol = "parley.resume";
/** Followed by the id of the connection that is resumed. */
export const connectionProtocol = "parley.connection.";
/** The code for a connection that the server does not have any more. */
export const unknownConnectionCode = 4404;

/** An acknowledgement is sent after so much, besides the one with each heartbeat. */
const ackedEvents = 1_024;
const ackedChars = 1024 * 1024;

/** The content of a count: the first frame of a socket, an acknowledgement and a heartbeat. It is not counted itself. */
export interface Count {
  /** How many messages of the other side have arrived. */
  readonly received: number;
  /** From a server on a new connection: its id. */
  readonly connectionId?: string;
  /** From a server on a new connection: how long it keeps it after a cut. */
  readonly graceMs?: number;
}

/** Undefined for every other message. */
export function readCount(value: unknown): Count | undefined {
  if (!isObject(value) || value["method"] !== resumeMethod || value["id"] !== undefined) return undefined;
  const { received, connectionId, graceMs } = isObject(value["params"]) ? value["params"] : {};
  if (typeof received !== "number" || !Number.isSafeInteger(received) || received < 0) return undefined;
  return {
    received,
    ...optional({
      connectionId: typeof connectionId === "string" ? connectionId : undefined,
      graceMs: typeof graceMs === "number" && graceMs >= 0 ? graceMs : undefined,
    }),
  };
}

export class CountedFrames {
  readonly sent = new SentRing();
  /** Messages that have arrived. */
  received = 0;
  /** When a count was last made for the other side. */
  countedAt = performance.now();
  readonly silence: PeerSilence;
  #unackedEvents = 0;
  #unackedChars = 0;

  /** `silentBeats` is after how many heartbeats without a word the other side has gone. */
  constructor(silentBeats?: number) {
    this.silence = new PeerSilence(silentBeats);
  }

  /** Counts a message that has arrived. Returns whether to acknowledge it now. */
  take(chars: number): boolean {
    this.received++;
    this.silence.heard();
    this.#unackedEvents++;
    this.#unackedChars += chars;
    return this.#unackedEvents >= ackedEvents || this.#unackedChars >= ackedChars;
  }

  /** Notes what has arrived at the other side. Returns false when it counts what was never sent. */
  acknowledged({ received }: Count): boolean {
    this.silence.heard();
    if (received > this.sent.last) return false;
    this.sent.forgetTo(received);
    return true;
  }

  /** The messages that the other side has not, or undefined when some of them are forgotten. */
  missing({ received }: Count): readonly string[] | undefined {
    const { sent } = this;
    if (!sent.hasAllAfter(received)) return undefined;
    const texts: string[] = [];
    for (let n = received + 1; n <= sent.last; n++) texts.push(sent.at(n) ?? "");
    return texts;
  }

  /** Keeps a message that is sent. Beyond the limits the oldest are forgotten. */
  keep(text: string, limits: RingLimits): void {
    this.sent.push(text);
    this.sent.keepWithin(limits);
  }

  /** The text of a count for the other side. */
  count(more: Omit<Count, "received"> = {}): string {
    this.#unackedEvents = 0;
    this.#unackedChars = 0;
    this.countedAt = performance.now();
    return JSON.stringify({
      jsonrpc: "2.0",
      method: resumeMethod,
      params: { received: this.received, ...more },
    });
  }
}
