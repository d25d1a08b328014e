// The prompts that were sent from a folder: those of this process, then those of the history.

import type { HistoryOpener } from "../../live/history-opener.ts";

const mostSessions = 30;
const mostPrompts = 500;

export class SentPrompts {
  readonly #cwd: string;
  readonly #history: HistoryOpener | undefined;
  /** Newest first. */
  #own: readonly string[] = [];
  #old: Promise<readonly string[]> | undefined;

  constructor(cwd: string, history: HistoryOpener | undefined) {
    this.#cwd = cwd;
    this.#history = history;
  }

  add(text: string): void {
    this.#own = [text, ...this.#own.filter((each) => each !== text)];
  }

  /** Newest first, each once. */
  async find(query: string): Promise<readonly string[]> {
    // a history that cannot be read has no prompts
    this.#old ??= this.#read().catch(() => []);
    const all = new Set([...this.#own, ...(await this.#old)]);
    const wanted = query.toLowerCase();
    return [...all].filter((text) => text.toLowerCase().includes(wanted)).slice(0, mostPrompts);
  }

  async #read(): Promise<readonly string[]> {
    const history = await this.#history?.open();
    if (history === undefined) return [];
    const found: string[] = [];
    for (const { id } of await history.list({ cwd: this.#cwd, limit: mostSessions })) {
      const texts: string[] = [];
      for await (const { prompt } of history.prompts(id)) {
        // the first block is what the user wrote
        const [first] = prompt;
        if (first?.type === "text" && "text" in first) texts.push(String(first.text));
      }
      found.push(...texts.toReversed());
      if (found.length >= mostPrompts) break;
    }
    return found;
  }
}
