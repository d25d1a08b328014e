// A question to the person at the terminal, on stderr, and one line as the answer.

import { createInterface } from "node:readline/promises";
import { dropTypedAhead } from "./typed-ahead.ts";

/** Nothing when the question is withdrawn or the input ends. */
export async function askLine(question: string, signal?: AbortSignal): Promise<string | undefined> {
  if (signal?.aborted) return undefined;
  const interrupt = () => process.kill(process.pid, "SIGINT");
  if (process.stdin.isTTY) await dropTypedAhead(process.stdin, interrupt);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // the terminal is in raw mode while it asks, so that Ctrl-C is a key and no signal
  lines.on("SIGINT", interrupt);
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    const answer = signal === undefined ? lines.question(question) : lines.question(question, { signal });
    return await Promise.race([answer.catch(() => undefined), closed]);
  } finally {
    lines.close();
  }
}
