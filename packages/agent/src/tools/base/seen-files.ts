// Remembers which version of each file the model has read; the oldest entries are dropped.

const maxFiles = 4_096;

/** The version of each file that the model has read. */
export interface SeenFiles {
  /** Remembers the version that was read or written. */
  note(path: string, version: string): void;
  /** Returns the version that was read last, if any. */
  versionOf(path: string): string | undefined;
  /** Forgets a file, for example because it was removed. */
  forget(path: string): void;
}

export class SessionSeenFiles implements SeenFiles {
  readonly #versions = new Map<string, string>();

  note(path: string, version: string): void {
    // a Map keeps insertion order, so the first is the oldest
    this.#versions.delete(path);
    this.#versions.set(path, version);
    const oldest = this.#versions.size > maxFiles ? this.#versions.keys().next().value : undefined;
    if (oldest !== undefined) this.#versions.delete(oldest);
  }

  versionOf(path: string): string | undefined {
    return this.#versions.get(path);
  }

  forget(path: string): void {
    this.#versions.delete(path);
  }
}
