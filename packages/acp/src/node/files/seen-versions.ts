// Remembers the version of each file when it was last read or written, to detect changes by others.

const maxFiles = 4096;

export class SeenVersions {
  readonly #versions = new Map<string, string>();

  get(canonical: string): string | undefined {
    return this.#versions.get(canonical);
  }

  set(canonical: string, version: string): void {
    // a Map keeps insertion order, so the first is the least recently used
    this.#versions.delete(canonical);
    this.#versions.set(canonical, version);
    if (this.#versions.size <= maxFiles) return;
    for (const oldest of this.#versions.keys()) {
      this.#versions.delete(oldest);
      return;
    }
  }
}
