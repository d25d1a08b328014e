// Remembers which version of each file the model has read, and how much of it; the oldest entries are dropped.

const maxFiles = 4_096;

/** Lines of a file, counted from 1. */
export interface SeenLines {
  /** The first line that was read. */
  readonly from: number;
  /** The last line that was read. */
  readonly to: number;
  /** The number of lines of the file. */
  readonly lines: number;
}

/** The version of each file that the model has read. */
export interface SeenFiles {
  /** Remembers the version that was read or written. `part`: only these lines were read. Default: all of it. */
  note(path: string, version: string, part?: SeenLines): void;
  /** Remembers a version that the model has made of the last one: what it had not read stays unread. */
  change(path: string, version: string): void;
  /** Returns the version that was read last, if any. */
  versionOf(path: string): string | undefined;
  /** Whether all lines of that version were read, at once or in parts. */
  isWhole(path: string): boolean;
  /** Takes what is known of a file to its new path. */
  move(from: string, to: string): void;
  /** Forgets a file, for example because it was removed. */
  forget(path: string): void;
}

interface Seen {
  readonly version: string;
  /** The parts that were read; undefined when that is all. */
  readonly parts: readonly SeenLines[] | undefined;
}

export class SessionSeenFiles implements SeenFiles {
  readonly #files = new Map<string, Seen>();

  note(path: string, version: string, part?: SeenLines): void {
    const known = this.#files.get(path);
    const isSame = known?.version === version;
    if (part === undefined || (isSame && known.parts === undefined)) {
      this.#keep(path, { version, parts: undefined });
      return;
    }
    const parts = [...(isSame ? (known.parts ?? []) : []), part];
    this.#keep(path, { version, parts: areWhole(parts) ? undefined : parts });
  }

  change(path: string, version: string): void {
    const known = this.#files.get(path);
    // the lines of the parts may have moved
    this.#keep(path, { version, parts: known !== undefined && known.parts === undefined ? undefined : [] });
  }

  versionOf(path: string): string | undefined {
    return this.#files.get(path)?.version;
  }

  isWhole(path: string): boolean {
    const known = this.#files.get(path);
    return known !== undefined && known.parts === undefined;
  }

  move(from: string, to: string): void {
    const known = this.#files.get(from);
    this.#files.delete(from);
    if (known !== undefined) this.#keep(to, known);
  }

  forget(path: string): void {
    this.#files.delete(path);
  }

  #keep(path: string, seen: Seen): void {
    // a Map keeps insertion order, so the first is the oldest
    this.#files.delete(path);
    this.#files.set(path, seen);
    const oldest = this.#files.size > maxFiles ? this.#files.keys().next().value : undefined;
    if (oldest !== undefined) this.#files.delete(oldest);
  }
}

function areWhole(parts: readonly SeenLines[]): boolean {
  let end = 0;
  for (const { from, to } of parts.toSorted((one, other) => one.from - other.from))
    if (from <= end + 1) end = Math.max(end, to);
  return end >= (parts[0]?.lines ?? 0);
}
