// Histories on their way to a client. Whoever loads a session that is being loaded waits, and gets no second copy:
// chunks append, so a view of the session would show everything twice (N116).

export class Replays {
  readonly #sent = new Map<string, Promise<boolean>>();

  /** Whether the history that is on its way will have been sent whole; undefined where none is. */
  underway(sessionId: string): Promise<boolean> | undefined {
    return this.#sent.get(sessionId);
  }

  /** A load, or a resume from the start, is on its way until it is answered. */
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

  /** What is loaded after a close has its own history. */
  forget(sessionId: string): void {
    this.#sent.delete(sessionId);
  }
}
