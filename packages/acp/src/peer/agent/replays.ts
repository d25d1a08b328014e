// Tracks the replays that are being sent. A second load of a session waits for the first and gets no second copy, since
// chunks append and the client would show everything twice (N116).

export class Replays {
  readonly #sent = new Map<string, Promise<boolean>>();

  /** Resolves with whether the replay that is being sent succeeds; undefined where there is none. */
  underway(sessionId: string): Promise<boolean> | undefined {
    return this.#sent.get(sessionId);
  }

  /** A replay is being sent until the request for it is answered. */
  track(sessionId: string, load: Promise<unknown>): void {
    const sent = load.then(
      () => true,
      () => false,
    );
    this.#sent.set(sessionId, sent);
    void sent.then(() => {
      if (this.#sent.get(sessionId) === sent) this.#sent.delete(sessionId);
    });
  }

  /** A session that is loaded after a close is replayed again. */
  forget(sessionId: string): void {
    this.#sent.delete(sessionId);
  }
}
