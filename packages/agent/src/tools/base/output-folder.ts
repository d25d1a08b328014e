// Keeps long outputs in a private folder that is created on first use and removed with the session.

import { mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A private folder for long output, which is removed with the session. */
export interface OutputFolder {
  /** The path of the folder. Undefined until something was written. */
  readonly path: string | undefined;
  /** Opens a new file that tools may read. Close `fd` when done. */
  create(name: string): { readonly path: string; readonly fd: number };
}

export class SessionOutputs implements OutputFolder {
  readonly #parent: string;
  #path: string | undefined;
  #count = 0;

  constructor(parent: string = tmpdir()) {
    this.#parent = parent;
  }

  get path(): string | undefined {
    return this.#path;
  }

  create(name: string): { readonly path: string; readonly fd: number } {
    if (this.#path === undefined) {
      mkdirSync(this.#parent, { recursive: true });
      this.#path = mkdtempSync(join(this.#parent, "parley-output-"));
    }
    this.#count += 1;
    const path = join(this.#path, `${this.#count}-${name}`);
    return { path, fd: openSync(path, "wx", 0o600) };
  }

  /** Removes the folder. */
  close(): void {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
  }
}
