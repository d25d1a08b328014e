// The files of a folder that is no repository. Folders that tools fill are left out.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ReviewLimits, shownList, shownSize } from "../files/source.ts";
import { type BytePath, fsPath, shownPath } from "../files/version.ts";
import type { FileList } from "./manifest-source.ts";

/** Installed and built things. A repository would ignore them. */
const skipped = new Set([
  ".cache",
  ".git",
  ".gradle",
  ".hg",
  ".mypy_cache",
  ".next",
  ".nox",
  ".pytest_cache",
  ".ruff_cache",
  ".svn",
  ".tox",
  ".venv",
  "__pycache__",
  "bower_components",
  "node_modules",
  "target",
  "venv",
]);

export class FolderFiles implements FileList {
  readonly #root: string;
  readonly #limits: ReviewLimits;
  readonly #leftOut = new Set<string>();
  readonly #skipped = new Set<string>();
  readonly #nested = new Set<string>();
  readonly #own: string | undefined;

  /** `own` is a folder of ours inside, which is not looked at. */
  constructor(root: string, limits: ReviewLimits, own: string | undefined) {
    this.#root = root;
    this.#limits = limits;
    this.#own = own;
  }

  get notCovered(): readonly string[] {
    const names = (paths: Set<string>) => shownList([...paths].map((path) => shownPath(path)));
    const { files, textFileBytes, contentBytes } = this.#limits;
    return [
      `${this.#root} is not a git repository. Only text files up to ${shownSize(textFileBytes)} can be undone there, ${shownSize(contentBytes)} in total.`,
      ...(this.#skipped.size === 0
        ? []
        : [`${this.#root}: these folders are not covered: ${names(this.#skipped)}.`]),
      ...(this.#leftOut.size === 0
        ? []
        : [
            `${this.#root}: there are more than ${files} files. These folders are not covered: ${names(this.#leftOut)}.`,
          ]),
    ];
  }

  get nested(): readonly string[] {
    return [...this.#nested];
  }

  has(path: BytePath): boolean {
    const names = path.split("/");
    return !names.some((name, index) => {
      const folder = names.slice(0, index).join("/");
      return (skipped.has(name) && index < names.length - 1) || this.#leftOut.has(folder);
    });
  }

  async list(): Promise<BytePath[]> {
    const files: BytePath[] = [];
    const folders: BytePath[] = [""];
    for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
      const found = await this.#read(folder);
      if (found === undefined || this.#leftOut.has(folder)) continue;
      if (files.length + found.files.length > this.#limits.files) {
        this.#leftOut.add(folder);
        continue;
      }
      for (const file of found.files) files.push(file);
      for (const inner of found.folders) folders.push(inner);
    }
    return files;
  }

  async #read(folder: BytePath): Promise<{ files: BytePath[]; folders: BytePath[] } | undefined> {
    const path = folder === "" ? Buffer.from(this.#root) : fsPath(this.#root, folder);
    if (this.#own !== undefined && path.equals(Buffer.from(this.#own))) return undefined;
    const entries = await readdir(path, { withFileTypes: true, encoding: "buffer" }).catch(() => []);
    const inFolder = entries
      .map((entry) => ({ entry, name: entry.name.toString("latin1") }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    if (folder !== "" && inFolder.some(({ name }) => name === ".git")) {
      this.#nested.add(join(this.#root, shownPath(folder)));
      return undefined;
    }
    const full = (name: string) => (folder === "" ? name : `${folder}/${name}`);
    const folders = inFolder.filter(({ entry }) => entry.isDirectory()).map(({ name }) => name);
    for (const name of folders) if (skipped.has(name) && name !== ".git") this.#skipped.add(full(name));
    return {
      files: inFolder
        .filter(({ entry }) => entry.isFile() || entry.isSymbolicLink())
        .map(({ name }) => full(name)),
      folders: folders.filter((name) => !skipped.has(name)).map(full),
    };
  }
}

/** The ignored files that somebody asked to protect. */
export class ProtectedFiles implements FileList {
  readonly notCovered: readonly string[] = [];
  readonly nested: readonly string[] = [];
  readonly #paths = new Set<BytePath>();

  add(path: BytePath): void {
    this.#paths.add(path);
  }

  has(path: BytePath): boolean {
    return this.#paths.has(path);
  }

  async list(): Promise<BytePath[]> {
    return [...this.#paths];
  }
}
