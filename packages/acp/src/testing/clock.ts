// The clock of scripted peers, which tests can replace.

export interface Clock {
  /** Resolves after the time, or when the signal aborts; never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const realClock: Clock = {
  sleep(milliseconds, signal) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      if (signal.aborted) done();
      else signal.addEventListener("abort", done, { once: true });
    });
  },
};
