// Discards input typed before a question: an agent may have tricked the user into typing an answer early.

import { setImmediate as turn } from "node:timers/promises";

/** The used part of a terminal's input stream. */
export interface TypedInput {
  readonly isRaw: boolean;
  setRawMode(mode: boolean): unknown;
  on(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  off(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Reads and drops waiting input, including an unfinished line. Calls `interrupt` for a Ctrl-C in it. */
export async function dropTypedAhead(input: TypedInput, interrupt: () => void): Promise<void> {
  let hasRead = false;
  const drop = (bytes: Buffer | string): void => {
    hasRead = true;
    if (bytes.includes("\u0003")) interrupt();
  };
  const wasRaw = input.isRaw;
  // otherwise the terminal would keep an unfinished line for the next reader
  input.setRawMode(true);
  input.on("data", drop);
  input.resume();
  // waiting input is read in the next turn, before its immediates; there may be several chunks
  do {
    hasRead = false;
    await turn();
    await turn();
  } while (hasRead);
  input.off("data", drop);
  input.pause();
  input.setRawMode(wasRaw);
}
