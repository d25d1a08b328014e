// Contents of files in a folder of ours, each once, under a budget.

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@parley/acp/node";
import { contentId } from "../files/version.ts";

export class ContentStore {
  readonly #folder: string;
  readonly #kept = new Set<string>();
  #left: number;
  /** Many files are kept at once, and all of them need the folder. */
  #made: Promise<unknown> | undefined;

  constructor(folder: string, budget: number) {
    this.#folder = folder;
    this.#left = budget;
  }

  /** Keeps a content. Gives its name, or undefined when the budget is spent. */
  async keep(content: Buffer): Promise<string | undefined> {
    const id = contentId(content, "sha1");
    if (this.#kept.has(id)) return id;
    if (content.length > this.#left) return undefined;
    this.#left -= content.length;
    this.#kept.add(id);
    this.#made ??= mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#made;
    // at once: an earlier process may have kept the same, and may need it whole
    await replaceFile(join(this.#folder, id), content, { flush: false });
    return id;
  }

  load(id: string): Promise<Buffer> {
    return readFile(join(this.#folder, id));
  }
}
