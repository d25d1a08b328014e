// Reports every few seconds that an agent has not answered yet.

export interface WaitingEvent {
  readonly kind: "waiting";
  /** What it is to answer. */
  readonly what: "initialize" | "session";
  readonly elapsedMs: number;
  /** When it is given up. */
  readonly timeoutMs: number;
  /** The last that it wrote to stderr. */
  readonly lastLine: string;
}

const everyMs = 3_000;

/** Tells every three seconds, until what it returns is called. */
export function reportWaiting(
  { what, timeoutMs }: Pick<WaitingEvent, "what" | "timeoutMs">,
  stderrTail: () => string,
  tell: ((event: WaitingEvent) => void) | undefined,
): () => void {
  const started = performance.now();
  const timer = setInterval(() => {
    const lastLine = stderrTail().trimEnd().split("\n").at(-1) ?? "";
    const elapsedMs = Math.round(performance.now() - started);
    tell?.({ kind: "waiting", what, elapsedMs, timeoutMs, lastLine });
  }, everyMs);
  return () => clearInterval(timer);
}
