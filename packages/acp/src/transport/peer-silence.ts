// Notices a peer that says nothing. Heartbeats are counted and not milliseconds: a process that was busy or asleep must
// not blame its peers for it.

export class PeerSilence {
  readonly #limit: number;
  #beats = 0;

  /** A peer that has said nothing at so many heartbeats in a row has gone. */
  constructor(limit = 3) {
    this.#limit = limit;
  }

  heard(): void {
    this.#beats = 0;
  }

  /** Called at each heartbeat. Returns whether the peer has gone. */
  beat(): boolean {
    this.#beats++;
    return this.#beats >= this.#limit;
  }
}
