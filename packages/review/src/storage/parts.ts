// Texts in a folder of ours that belong together: parts, and a head that names them. The head is replaced at once, so that a
// reader finds the parts of one moment, whenever the writer was killed. Hashes tell whether what is there is whole.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@parley/acp/node";

export class Parts {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** The bytes of the parts that are there. */
  readonly #sizes = new Map<string, number>();
  #bytes = 0;
  #made: Promise<unknown> | undefined;

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Keeps a part. Gives its name, or undefined if all parts together would be too large. */
  async put(text: string): Promise<string | undefined> {
    const name = hashOf(text);
    if (this.#sizes.has(name)) return name;
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > this.#maxBytes) return undefined;
    await this.#write(name, text);
    this.#has(name, bytes);
    return name;
  }

  /** Makes this the head. Parts that it does not name are removed. */
  async commit(head: string, names: ReadonlySet<string>): Promise<void> {
    await this.#write("head", `${hashOf(head)}\n${head}`);
    for (const name of this.#sizes.keys()) {
      if (names.has(name)) continue;
      this.#bytes -= this.#sizes.get(name) ?? 0;
      this.#sizes.delete(name);
      await rm(join(this.#folder, name), { force: true });
    }
  }

  /** The head that was stored last. Undefined if there is none. Throws if it is damaged. */
  async head(): Promise<string | undefined> {
    const text = await readFile(join(this.#folder, "head"), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const end = text.indexOf("\n");
    const head = text.slice(end + 1);
    if (text.slice(0, end) !== hashOf(head)) throw new Error("it is damaged");
    return head;
  }

  /** A part that was stored. Undefined if it is damaged or gone. */
  async part(name: string): Promise<string | undefined> {
    const text = await readFile(join(this.#folder, name), "utf8").catch(() => undefined);
    if (text === undefined || hashOf(text) !== name) return undefined;
    this.#has(name, Buffer.byteLength(text));
    return text;
  }

  /** Removes what no head named before a kill. */
  async clean(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      if (name !== "head" && !this.#sizes.has(name)) await rm(join(this.#folder, name), { force: true });
    }
  }

  #has(name: string, bytes: number): void {
    if (!this.#sizes.has(name)) this.#bytes += bytes;
    this.#sizes.set(name, bytes);
  }

  async #write(name: string, text: string): Promise<void> {
    this.#made ??= mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#made;
    await replaceFile(join(this.#folder, name), text, { flush: false });
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 40);
}
