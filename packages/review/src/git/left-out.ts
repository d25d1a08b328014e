// Which files of a repository are left out of its snapshots: once left out, always left out, so that a file that was never
// stored does not look like a new one later.

import { constants, type Stats } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { type ReviewLimits, shownList, shownSize } from "../files/source.ts";
import { type BytePath, fsPath, shownPath } from "../files/version.ts";

export class LeftOut {
  readonly #root: string;
  readonly #limits: ReviewLimits;
  /** Files by size. */
  readonly #large = new Map<BytePath, number>();
  /** Folders, with a slash at the end, and files that are too many. */
  readonly #crowds = new Map<string, number>();
  /** Files that we may not read. */
  readonly #closed = new Set<BytePath>();
  /** Whole folders that somebody else looks after. */
  readonly #foreign = new Set<string>();

  constructor(root: string, limits: ReviewLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  has(path: BytePath): boolean {
    if (this.#large.has(path) || this.#crowds.has(path) || this.#closed.has(path)) return true;
    if (this.#crowds.size === 0 && this.#foreign.size === 0) return false;
    for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
      const folder = path.slice(0, end + 1);
      if (this.#crowds.has(folder) || this.#foreign.has(folder)) return true;
    }
    return false;
  }

  addFolder(folder: string): void {
    this.#foreign.add(folder);
  }

  addLarge(path: BytePath, size: number): void {
    this.#large.set(path, size);
  }

  /** Of files that are new or changed, those that are to be stored, with what is not a file any more. */
  async storable(paths: readonly BytePath[], maxBytes: number): Promise<BytePath[]> {
    const kept: BytePath[] = [];
    for (const path of paths) {
      if (this.has(path)) continue;
      const file = fsPath(this.#root, path);
      const found: Stats | undefined = await lstat(file).catch(() => undefined);
      if (found?.isFile() === true && found.size > maxBytes) this.#large.set(path, found.size);
      else if (found?.isFile() === true && !(await isReadable(file))) this.#closed.add(path);
      else if (found === undefined || found.isFile() || found.isSymbolicLink() || found.isDirectory())
        kept.push(path);
    }
    return kept;
  }

  /** Leaves out the folders with most untracked files, until there are few enough. */
  thin(untracked: readonly BytePath[], stored: number): BytePath[] {
    let left = untracked.filter((path) => !this.has(path));
    while (left.length + stored > this.#limits.untrackedFiles) {
      const counts = new Map<string, number>();
      for (const path of left) {
        const end = path.indexOf("/");
        if (end >= 0) counts.set(path.slice(0, end + 1), (counts.get(path.slice(0, end + 1)) ?? 0) + 1);
      }
      const [largest] = [...counts].sort(([, one], [, other]) => other - one);
      if (largest === undefined) {
        const room = Math.max(0, this.#limits.untrackedFiles - stored);
        for (const path of left.slice(room)) this.#crowds.set(path, 1);
        return left.slice(0, room);
      }
      this.#crowds.set(...largest);
      left = left.filter((path) => !path.startsWith(largest[0]));
    }
    return left;
  }

  sentences(): string[] {
    const { untrackedFiles, untrackedFileBytes } = this.#limits;
    const large = Array.from(this.#large, ([path, size]) => `${shownPath(path)} (${shownSize(size)})`);
    const crowds = Array.from(this.#crowds, ([path, count]) =>
      path.endsWith("/") ? `${shownPath(path)} (${count} files)` : shownPath(path),
    );
    const closed = Array.from(this.#closed, (path) => shownPath(path));
    return [
      ...(closed.length === 0
        ? []
        : [`${this.#root}: these files cannot be read, so they are not covered: ${shownList(closed)}.`]),
      ...(large.length === 0
        ? []
        : [
            `${this.#root}: files over ${shownSize(untrackedFileBytes)} are not covered: ${shownList(large)}.`,
          ]),
      ...(crowds.length === 0
        ? []
        : [
            `${this.#root}: there are more than ${untrackedFiles} untracked files. These are not covered: ${shownList(crowds)}.`,
          ]),
    ];
  }
}

/** One file that git cannot read would fail the whole snapshot. */
function isReadable(file: Buffer): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}
