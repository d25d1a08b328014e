// What was typed before a question was there is no answer to it: an agent may have asked for a 1 in its own words, so that
// it stands ready when the real question comes.

import { setImmediate as turn } from "node:timers/promises";

/** A terminal that is read from, as much of it as is needed. */
export interface TypedInput {
  readonly isRaw: boolean;
  setRawMode(mode: boolean): unknown;
  on(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  off(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Reads what waits and drops it, half a line too. `interrupt` is for a Ctrl-C among it. */
export async function dropTypedAhead(input: TypedInput, interrupt: () => void): Promise<void> {
  let heard = false;
  const drop = (bytes: Buffer | string): void => {
    heard = true;
    if (bytes.includes("\u0003")) interrupt();
  };
  const wasRaw = input.isRaw;
  // else the terminal keeps back a line that has no end yet, and gives it to whoever asks next
  input.setRawMode(true);
  input.on("data", drop);
  input.resume();
  // what waits is read in the next turn, before its immediates; there may be more than one piece
  do {
    heard = false;
    await turn();
    await turn();
  } while (heard);
  input.off("data", drop);
  input.pause();
  input.setRawMode(wasRaw);
}
