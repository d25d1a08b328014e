// A terminal without a window, for tests of screens: takes bytes, gives rows.

import xterm from "@xterm/headless";
import type { ScreenTerminal } from "../../src/screen/terminal-screen.ts";

export class HeadlessTerminal implements ScreenTerminal {
  /** All bytes so far. */
  written = "";
  /** How often the terminal was taken and given back. */
  starts = 0;
  stops = 0;
  readonly #terminal: xterm.Terminal;
  #input: ((data: string) => void) | undefined;
  #resized: (() => void) | undefined;

  constructor(columns = 80, rows = 24) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 200_000, allowProposedApi: true });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.starts += 1;
    this.#input = onInput;
    this.#resized = onResize;
  }

  stop(): void {
    this.stops += 1;
    this.#input = undefined;
  }

  write(data: string): void {
    this.written += data;
    this.#terminal.write(data);
  }

  /** Sends one key or paste. */
  press(...sequences: string[]): void {
    for (const sequence of sequences) this.#input?.(sequence);
  }

  type(text: string): void {
    for (const character of text) this.press(character);
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    this.#resized?.();
  }

  /** The visible rows, without blanks at their ends. */
  async screen(): Promise<string[]> {
    const all = await this.#lines();
    const from = this.#terminal.buffer.active.baseY;
    return all.slice(from, from + this.rows);
  }

  /** Everything, with the scrollback, up to the last row that has text. */
  async everything(): Promise<string[]> {
    const all = await this.#lines();
    const last = all.findLastIndex((line) => line !== "");
    return all.slice(0, last + 1);
  }

  /** The row of the screen and the column where the cursor is. */
  async cursor(): Promise<{ row: number; column: number }> {
    await this.#written();
    const { cursorX: column, cursorY: row } = this.#terminal.buffer.active;
    return { row, column };
  }

  async isAlternate(): Promise<boolean> {
    await this.#written();
    return this.#terminal.buffer.active.type === "alternate";
  }

  async #lines(): Promise<string[]> {
    await this.#written();
    const { active } = this.#terminal.buffer;
    return Array.from({ length: active.length }, (_, at) =>
      (active.getLine(at)?.translateToString(true) ?? "").trimEnd(),
    );
  }

  #written(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write("", resolve));
  }
}
