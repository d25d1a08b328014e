// Reads from an agent no faster than its user can be served: keys go before output, and what is not drawn waits outside.

/** The part of an agent that stops and goes on reading. */
interface Source {
  pause(): void;
  resume(): void;
}

/** Reading takes at most so long before keys and frames have their turn. */
const turnMs = 3;
/** A screen that draws nothing any more, such as one behind an editor, does not hold the agent for good. */
const holdMs = 500;

export interface ReadingPaceOptions {
  /** Undefined while there is nothing to read from. */
  readonly source: () => Source | undefined;
  /** In milliseconds, of a clock that never goes back. */
  readonly now?: () => number;
}

export class ReadingPace {
  readonly #source: () => Source | undefined;
  readonly #now: () => number;
  /** When reading began in this turn of the event loop. */
  #began: number | undefined;
  #isTurnOver = false;
  #hold: NodeJS.Timeout | undefined;
  /** What was paused. */
  #paused: Source | undefined;

  constructor({ source, now = () => performance.now() }: ReadingPaceOptions) {
    this.#source = source;
    this.#now = now;
  }

  /** Something was read: after some milliseconds of it, the rest waits for the next turn of the event loop. */
  heard(): void {
    if (this.#began === undefined) {
      this.#began = this.#now();
      setImmediate(this.#nextTurn);
    } else if (!this.#isTurnOver && this.#now() - this.#began > turnMs) {
      this.#isTurnOver = true;
      this.#settle();
    }
  }

  /** Whether more is waiting to be drawn than a frame can draw: nothing is read meanwhile. It ends by itself if not repeated. */
  hold(isBehind: boolean): void {
    if (!isBehind && this.#hold === undefined) return;
    clearTimeout(this.#hold);
    this.#hold = isBehind ? setTimeout(() => this.hold(false), holdMs).unref() : undefined;
    this.#settle();
  }

  readonly #nextTurn = (): void => {
    this.#began = undefined;
    if (!this.#isTurnOver) return;
    this.#isTurnOver = false;
    this.#settle();
  };

  #settle(): void {
    const isPaused = this.#isTurnOver || this.#hold !== undefined;
    if (isPaused === (this.#paused !== undefined)) return;
    if (isPaused) {
      this.#paused = this.#source();
      this.#paused?.pause();
    } else {
      this.#paused?.resume();
      this.#paused = undefined;
    }
  }
}
