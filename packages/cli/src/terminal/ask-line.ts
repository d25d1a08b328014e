// Asks a question on stderr and reads one line from stdin.

import { createInterface } from "node:readline/promises";
import { setImmediate as turn } from "node:timers/promises";
import { escapedLine } from "./sanitise.ts";

/** Undefined if the question is withdrawn or the input ends. */
export async function askLine(question: string, signal?: AbortSignal): Promise<string | undefined> {
  if (signal?.aborted) return undefined;
  const interrupt = () => process.kill(process.pid, "SIGINT");
  if (process.stdin.isTTY) await dropTypedAhead(process.stdin, interrupt);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // readline puts the terminal in raw mode, where Ctrl-C is a key and not a signal
  lines.on("SIGINT", interrupt);
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    const answer = signal === undefined ? lines.question(question) : lines.question(question, { signal });
    return await Promise.race([answer.catch(() => undefined), closed]);
  } finally {
    lines.close();
  }
}

/** The end of the input is a no, and a typo is neither. */
export async function askYesOrNo(
  what: string,
  { ask, write }: { ask(question: string): Promise<string | undefined>; write(text: string): void },
): Promise<boolean> {
  for (;;) {
    const answer = (await ask(`  ${what} [y/N] `))?.trim().toLowerCase();
    if (answer === "y" || answer === "yes") return true;
    if (answer === undefined || answer === "" || answer === "n" || answer === "no") return false;
    write(`  ${JSON.stringify(escapedLine(answer)).slice(0, 60)} is not an answer; type y or n\n`);
  }
}

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
