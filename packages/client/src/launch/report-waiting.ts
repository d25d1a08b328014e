// Reports every few seconds that an agent has not answered yet.

/** @inline */
export interface WaitingEvent {
  readonly kind: "waiting";
  /** The request that is not answered yet. */
  readonly what: "initialize" | "session";
  readonly elapsedMs: number;
  /** The timeout of the request. */
  readonly timeoutMs: number;
  /** The last line of its stderr. */
  readonly lastLine: string;
}

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
