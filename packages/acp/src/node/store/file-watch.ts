// Notices that another process has stored something, without holding a transaction.

import { type FSWatcher, watch } from "node:fs";

/** Events of the file system may be lost, so it looks at least this often. */
const lookEveryMs = 1_000;
/** The event may come while a transaction is still being written, so it looks again after these times. */
const againAfterMs = [1, 5, 25, 125] as const;

/**
 * Calls `look` soon after the write-ahead log of a database has changed, and once a second. `look` says whether it has found
 * something new.
 */
export class FileWatch {
  readonly #look: () => boolean;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #watcher: FSWatcher | undefined;
  #next: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;

  constructor(path: string, look: () => boolean) {
    this.#look = look;
    this.#timer = setInterval(look, lookEveryMs);
    this.#watcher = watcherOf(`${path}-wal`, () => this.#hinted());
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#next);
    this.#watcher?.close();
  }

  /** Each event starts the attempts again. Many events come with one transaction, so only one timer runs at a time. */
  #hinted(): void {
    this.#attempt = 0;
    this.#next ??= setTimeout(() => this.#tryAgain(), 0);
  }

  #tryAgain(): void {
    this.#next = undefined;
    const isFound = this.#look();
    const delay = againAfterMs[this.#attempt++];
    if (!isFound && delay !== undefined) this.#next = setTimeout(() => this.#tryAgain(), delay);
  }
}

/** Undefined if the file cannot be watched. */
function watcherOf(path: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, changed);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
