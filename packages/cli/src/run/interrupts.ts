// Watches Ctrl-C, SIGTERM, SIGHUP and a closed output: the first stops the agent, the second kills it.

import { watchOutput } from "../command/command.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Interrupts {
  /** Aborts with the first one. */
  readonly first: AbortSignal;
  /** Aborts with the second one. */
  readonly second: AbortSignal;
  /** The output was closed, as by `head`. */
  readonly isReaderGone: boolean;
  /** Why printing failed; usually a full disk. */
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
  watchOutput((error) => {
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
