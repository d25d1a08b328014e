// Streams a command's output to the client at a readable rate; the rest is dropped with a note.

import type { DisplayTerminal } from "@parley/acp";

/** Minimum time between updates. */
const everyMs = 100;
const maxUpdateBytes = 32 * 1024;
/** A burst, then a rate: shown output is stored, and sent again when the session is loaded. */
const burstBytes = 64 * 1024;
const bytesPerSecond = 32 * 1024;

export class LiveOutput {
  readonly #display: Pick<DisplayTerminal, "write">;
  /** One reused buffer with at most one update, so that a flood leaves no garbage. */
  #pending: Buffer | undefined;
  #pendingBytes = 0;
  #leftOut = 0;
  #budget = burstBytes;
  #shownAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Set while an update is being sent: nothing else is sent until it resolves. */
  #waiting: Promise<void> | undefined;

  constructor(display: Pick<DisplayTerminal, "write">) {
    this.#display = display;
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.subarray(Math.max(0, bytes.length - maxUpdateBytes));
    this.#pending ??= Buffer.allocUnsafeSlow(maxUpdateBytes);
    const surplus = Math.max(0, this.#pendingBytes + kept.length - maxUpdateBytes);
    if (surplus > 0) this.#pending.copyWithin(0, surplus, this.#pendingBytes);
    this.#pendingBytes -= surplus;
    this.#pending.set(kept, this.#pendingBytes);
    this.#pendingBytes += kept.length;
    this.#leftOut += bytes.length - kept.length + surplus;
    if (this.#timer === undefined && this.#waiting === undefined) this.#soon();
  }

  /** Sends the rest. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#waiting;
    clearTimeout(this.#timer);
    this.#budget = Math.max(this.#budget, maxUpdateBytes);
    await this.#show();
  }

  #soon(): void {
    const wait = this.#shownAt + everyMs - Date.now();
    if (wait <= 0) this.#showAndWait();
    else this.#timer = setTimeout(() => this.#showAndWait(), wait);
  }

  #showAndWait(): void {
    this.#timer = undefined;
    const done = (): void => {
      this.#waiting = undefined;
      if (this.#pendingBytes > 0) this.#soon();
    };
    // on failure the client is gone, and the turn ends by itself
    this.#waiting = this.#show().then(done, done);
  }

  async #show(): Promise<void> {
    if (this.#pending === undefined || this.#pendingBytes === 0) return;
    const now = Date.now();
    const refill = ((now - this.#shownAt) / 1000) * bytesPerSecond;
    this.#budget = Math.min(burstBytes, this.#budget + refill);
    this.#shownAt = now;
    const bytes = this.#pending.subarray(0, this.#pendingBytes);
    const from = Math.max(0, bytes.length - Math.floor(this.#budget));
    const shown = bytes.subarray(atLineStart(bytes, this.#leftOut > 0 || from > 0 ? from : -1));
    const leftOut = this.#leftOut + bytes.length - shown.length;
    this.#pendingBytes = 0;
    this.#leftOut = 0;
    this.#budget -= shown.length;
    const note = leftOut > 0 ? `\r\n[${leftOut} bytes not shown]\r\n` : "";
    await this.#display.write(note === "" ? shown : Buffer.concat([Buffer.from(note), shown]));
  }
}

/** After a gap, starts at a line start, never inside a character. */
function atLineStart(bytes: Uint8Array, from: number): number {
  if (from < 0) return 0;
  const end = bytes.indexOf(0x0a, from);
  return end < 0 || end - from > 4_096 || end + 1 === bytes.length ? from : end + 1;
}
