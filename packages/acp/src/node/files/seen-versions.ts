// Which version of each file was last read or written here, so that a file which somebody else has changed
// since then is not overwritten unseen. Bounded: what has been forgotten is simply not checked.

const maxFiles = 4096;

export class SeenVersions {
  readonly #versions = new Map<string, string>();

  get(canonical: string): string | undefined {
    return this.#versions.get(canonical);
  }

  set(canonical: string, version: string): void {
    // A Map keeps the order of insertion: the first is the one not touched for longest.
    this.#versions.delete(canonical);
    this.#versions.set(canonical, version);
    if (this.#versions.size <= maxFiles) return;
    for (const oldest of this.#versions.keys()) {
      this.#versions.delete(oldest);
      return;
    }
  }
}
