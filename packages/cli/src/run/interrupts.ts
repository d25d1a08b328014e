// Ctrl-C: the first time it asks the agent to stop, the second time it ends it. SIGTERM and SIGHUP mean the same, and so does
// a reader of our output that has gone: `parley run ... | head`.

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Interrupts {
  /** Aborts with the first one. */
  readonly first: AbortSignal;
  /** Aborts with the second one. */
  readonly second: AbortSignal;
  /** Whether the reason is that nobody reads what we print. */
  readonly isReaderGone: boolean;
  /** Why nothing more could be printed: a disk that is full, usually. */
  readonly outputError: string | undefined;
  dispose(): void;
}

export function watchInterrupts(): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  const interrupt = () => (first.signal.aborted ? second : first).abort();
  for (const signal of signals) process.on(signal, interrupt);
  let isReaderGone = false;
  let outputError: string | undefined;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") isReaderGone = true;
    else outputError ??= error.message;
    first.abort();
  });
  return {
    first: first.signal,
    second: second.signal,
    get isReaderGone() {
      return isReaderGone;
    },
    get outputError() {
      return outputError;
    },
    dispose() {
      for (const signal of signals) process.off(signal, interrupt);
    },
  };
}
