// Follows a log: the loops behind `tail` and `commands` of every store, and their cursors.

/** A place in the log of a session: the entry `seq`, as the holder of an epoch wrote it. */
export interface LogPlace {
  readonly epoch: number;
  /** Random: after a power cut the same epoch may be given out again. */
  readonly nonce: string;
  readonly seq: number;
}

/** One claim of a session: its entries follow the entry `after`. */
export interface Epoch {
  readonly epoch: number;
  readonly nonce: string;
  readonly after: number;
}

/** The epoch of the entries before the first claim, which a fork has from its source. */
const origin = { epoch: 0, nonce: "-" };

/** The place of an entry. `epochs` are those of its session, in order. */
export function placeOf(epochs: readonly Epoch[], seq: number): LogPlace {
  const { epoch, nonce } = epochs.findLast(({ after }) => after < seq) ?? origin;
  return { epoch, nonce, seq };
}

/** The last entry up to which a reader at a place has seen this log: its own entry, unless the end of its epoch was lost. */
export function agreedSeq(
  epochs: readonly Epoch[],
  { epoch, nonce, seq }: LogPlace,
  lastSeq: number,
): number {
  // the entries of an epoch end where the next one begins
  const at = epochs.findIndex((each) => each.epoch >= epoch);
  const found = epochs[at];
  const isKnown = found !== undefined && found.epoch === epoch && found.nonce === nonce;
  const next = isKnown ? epochs[at + 1] : found;
  const end = next?.after ?? lastSeq;
  return Math.min(seq, end);
}

/** A cursor as readers get it. */
export function cursorText({ epoch, nonce, seq }: LogPlace): string {
  return `${epoch}.${nonce}.${seq}`;
}

/** Undefined for a text that is not a cursor. */
export function readLogCursor(cursor: string): LogPlace | undefined {
  const [, epoch, nonce = "", seq] = /^(\d{1,15})\.([\w-]{1,32})\.(\d{1,15})$/.exec(cursor) ?? [];
  return epoch === undefined ? undefined : { epoch: Number(epoch), nonce, seq: Number(seq) };
}

/** Wakes the callers of `wait`. */
export class Wakers {
  readonly #waiting = new Set<() => void>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves when woken, or when the signal aborts. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        this.#waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }
}

/**
 * Yields what `load` finds, until `isOver`. `wait` is called before `load`, so that nothing is missed
 * that comes while it loads.
 */
export async function* following<Found>(
  load: () => Promise<{ readonly found?: Found; readonly isOver?: boolean }>,
  wait: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Found, void> {
  let stop = new AbortController();
  const end = (): void => stop.abort();
  signal?.addEventListener("abort", end);
  try {
    while (signal?.aborted !== true) {
      stop = new AbortController();
      const woken = wait(stop.signal);
      try {
        const { found, isOver } = await load();
        if (found !== undefined) yield found;
        if (isOver) return;
        if (found === undefined) await woken;
      } finally {
        stop.abort();
      }
    }
  } finally {
    signal?.removeEventListener("abort", end);
  }
}
