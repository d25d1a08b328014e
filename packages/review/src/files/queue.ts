// One thing at a time, in the order of the calls.

export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined); // the caller is told; the next one starts all the same
    return done;
  }
}
