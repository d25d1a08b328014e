// Keeps what was written and not sent in a file per folder, so that it survives a crash of Parley.

import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stateFolder } from "../../settings/data-folder.ts";

/** It is written so often at most. */
const pauseMs = 1_000;

export class DraftFile {
  readonly #path: string;
  readonly #text: () => string;
  #written: string;
  #timer: NodeJS.Timeout | undefined;
  readonly #atExit = () => this.flush();

  /** `text` returns what is to be kept. */
  constructor(cwd: string, text: () => string) {
    const name = createHash("sha256").update(cwd).digest("hex").slice(0, 32);
    this.#path = join(stateFolder(), "drafts", `${name}.txt`);
    this.#text = text;
    this.#written = this.kept;
    // also after an error that nobody caught
    process.once("exit", this.#atExit);
  }

  /** What the file holds. */
  get kept(): string {
    try {
      return readFileSync(this.#path, "utf8");
    } catch {
      // there is none
      return "";
    }
  }

  /** The text has changed; it is written soon. */
  changed(): void {
    this.#timer ??= setTimeout(() => this.flush(), pauseMs).unref();
    // what was sent must not come back after a crash
    if (this.#text() === "") this.flush();
  }

  /** Writes it now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text();
    if (text === this.#written) return;
    try {
      if (text === "") rmSync(this.#path, { force: true });
      else {
        mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
        const temporary = `${this.#path}.${process.pid}`;
        writeFileSync(temporary, text, { mode: 0o600 });
        chmodSync(temporary, 0o600);
        renameSync(temporary, this.#path);
      }
      this.#written = text;
    } catch {
      // a draft that cannot be kept must not stop the user
    }
  }

  close(): void {
    this.flush();
    process.off("exit", this.#atExit);
  }
}
