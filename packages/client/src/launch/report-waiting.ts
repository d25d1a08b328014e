// Reports every few seconds that an agent has not answered yet.

import type { WaitingEvent } from "./launch-event.ts";

const everyMs = 3_000;

/** Reports every three seconds, until the returned function is called. */
export function reportWaiting(
  { what, timeoutMs }: Pick<WaitingEvent, "what" | "timeoutMs">,
  stderrTail: () => string,
  report: ((event: WaitingEvent) => void) | undefined,
): () => void {
  const started = performance.now();
  const timer = setInterval(() => {
    const lastLine = stderrTail().trimEnd().split("\n").at(-1) ?? "";
    const elapsedMs = Math.round(performance.now() - started);
    report?.({ kind: "waiting", what, elapsedMs, timeoutMs, lastLine });
  }, everyMs);
  return () => clearInterval(timer);
}
