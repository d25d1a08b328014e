// A conversation may be ended from outside: by a signal, or because its terminal was closed.

import { constants } from "node:os";
import { watchOutput } from "../command/command.ts";

const signals = ["SIGTERM", "SIGHUP"] as const;

export interface Ending {
  /** Aborts when the conversation must end. */
  readonly signal: AbortSignal;
  /** The exit code then. */
  readonly exitCode: number;
  dispose(): void;
}

/** The first signal ends the conversation in order. The second one exits at once: the draft is kept in both cases. */
export function watchEnding(): Ending {
  const ending = new AbortController();
  let exitCode = 0;
  const end = (code: number) => {
    if (ending.signal.aborted) process.exit(code);
    exitCode = code;
    ending.abort();
  };
  const listener = (signal: NodeJS.Signals) => end(128 + constants.signals[signal]);
  for (const signal of signals) process.on(signal, listener);
  // Ctrl-C in an editor or a login that has the terminal is meant for that program
  process.on("SIGINT", ignore);
  watchOutput(() => {
    // a closed terminal fails with each write
    if (!ending.signal.aborted) end(1);
  });
  return {
    signal: ending.signal,
    get exitCode() {
      return exitCode;
    },
    dispose() {
      for (const signal of signals) process.off(signal, listener);
      process.off("SIGINT", ignore);
    },
  };
}

function ignore(): void {}
