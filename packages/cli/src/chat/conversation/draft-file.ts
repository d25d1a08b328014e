// Keeps what was written and not sent in a file, so that it survives a crash of Parley. Each process has its own: another
// chat in the same folder neither shows nor deletes it.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProcessRunning, processKey, replaceFileSync } from "@parley/acp/node";
import { stateFolder } from "../../settings/data-folder.ts";

/** It is written so often at most: little is lost with a process that is killed. */
const pauseMs = 50;

export class DraftFile {
  /** What an earlier process left behind. */
  readonly kept: string;
  readonly #folder = join(stateFolder(), "drafts");
  readonly #name: string;
  readonly #path: string;
  readonly #text: () => string;
  #written: string;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #atExit = () => this.flush();

  /** `text` returns what is to be kept. */
  constructor(cwd: string, text: () => string) {
    this.#name = createHash("sha256").update(cwd).digest("hex").slice(0, 32);
    this.#path = join(this.#folder, `${this.#name}.${processKey()}.txt`);
    this.#text = text;
    this.kept = this.#adopted();
    this.#written = this.kept;
    // also after an error that nobody caught
    process.once("exit", this.#atExit);
  }

  /** What processes that have ended left in this folder. It is ours from now on. */
  #adopted(): string {
    try {
      const left = readdirSync(this.#folder).filter((file) => this.#isLeft(file));
      const texts = left.map((file) => readFileSync(join(this.#folder, file), "utf8"));
      const text = texts.filter((each) => each !== "").join("\n\n");
      if (text !== "") this.#write(text);
      for (const file of left) {
        const path = join(this.#folder, file);
        if (path !== this.#path) rmSync(path, { force: true });
      }
      return text;
    } catch {
      // there is none, or it cannot be ours
      return "";
    }
  }

  #isLeft(file: string): boolean {
    if (!file.startsWith(`${this.#name}.`) || !file.endsWith(".txt")) return false;
    const key = file.slice(this.#name.length + 1, -".txt".length);
    return key === processKey() || !isProcessRunning(key);
  }

  #write(text: string): void {
    replaceFileSync(this.#path, text, { flush: false });
  }

  /** The text has changed; it is written soon. */
  changed(): void {
    // what ends with the conversation is not what the user has sent
    if (this.#isClosed) return;
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
      else this.#write(text);
      this.#written = text;
    } catch {
      // a draft that cannot be kept must not stop the user
    }
  }

  close(): void {
    this.flush();
    this.#isClosed = true;
    process.off("exit", this.#atExit);
  }
}
