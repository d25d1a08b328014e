// A command's output on its way to the client while it runs: at most ten updates a second, and never more than a
// person could read. What comes faster is left out with a note; all of it is in the result or in a file.

import type { DisplayTerminal } from "@parley/acp";

/** Between two updates. */
const everyMs = 100;
/** Of one update. */
const maxUpdateBytes = 32 * 1024;
/** So much at once, then so much a second: what is shown is stored and sent again to whoever loads the session. */
const burstBytes = 256 * 1024;
const bytesPerSecond = 32 * 1024;

export class LiveOutput {
  readonly #display: Pick<DisplayTerminal, "write">;
  /** Copies; at most one update's worth. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #leftOut = 0;
  #budget = burstBytes;
  #shownAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** The client reads slowly: nothing more until it has. */
  #waiting: Promise<void> | undefined;

  constructor(display: Pick<DisplayTerminal, "write">) {
    this.#display = display;
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.subarray(Math.max(0, bytes.length - maxUpdateBytes));
    this.#leftOut += bytes.length - kept.length;
    this.#pending.push(Buffer.from(kept));
    this.#pendingBytes += kept.length;
    while (this.#pendingBytes - (this.#pending[0]?.length ?? 0) >= maxUpdateBytes) this.#dropFirst();
    if (this.#timer === undefined && this.#waiting === undefined) this.#soon();
  }

  /** Shows what is left. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#waiting;
    clearTimeout(this.#timer);
    this.#budget = Math.max(this.#budget, maxUpdateBytes);
    await this.#show();
  }

  #dropFirst(): void {
    const dropped = this.#pending.shift()?.length ?? 0;
    this.#pendingBytes -= dropped;
    this.#leftOut += dropped;
  }

  #soon(): void {
    const wait = this.#shownAt + everyMs - Date.now();
    if (wait <= 0) this.#showAndWait();
    else this.#timer = setTimeout(() => this.#showAndWait(), wait);
  }

  #showAndWait(): void {
    this.#timer = undefined;
    const slow = this.#show();
    if (slow === undefined) return;
    const done = (): void => {
      this.#waiting = undefined;
      if (this.#pendingBytes > 0) this.#soon();
    };
    // a client that has gone takes nothing more; the turn hears of it
    this.#waiting = slow.then(done, done);
  }

  #show(): Promise<void> | undefined {
    if (this.#pendingBytes === 0) return undefined;
    const now = Date.now();
    const refill = ((now - this.#shownAt) / 1000) * bytesPerSecond;
    this.#budget = Math.min(burstBytes, this.#budget + refill);
    this.#shownAt = now;
    const bytes = Buffer.concat(this.#pending);
    const from = Math.max(0, bytes.length - Math.floor(this.#budget));
    const shown = bytes.subarray(atLineStart(bytes, this.#leftOut > 0 || from > 0 ? from : -1));
    const leftOut = this.#leftOut + bytes.length - shown.length;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#leftOut = 0;
    this.#budget -= shown.length;
    const note = leftOut > 0 ? `\r\n[${leftOut} bytes not shown]\r\n` : "";
    return this.#display.write(note === "" ? shown : Buffer.concat([Buffer.from(note), shown]));
  }
}

/** After something was left out, a line begins: half a one could begin inside a character. */
function atLineStart(bytes: Uint8Array, from: number): number {
  if (from < 0) return 0;
  const end = bytes.indexOf(0x0a, from);
  return end < 0 || end - from > 4_096 || end + 1 === bytes.length ? from : end + 1;
}
