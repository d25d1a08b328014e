// Asks a question on stderr and reads one line from stdin.

import { createInterface } from "node:readline/promises";
import { dropTypedAhead } from "./typed-ahead.ts";

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
