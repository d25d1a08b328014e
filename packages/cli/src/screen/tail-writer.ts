// Writes lines to a terminal so that finished ones are written once, and only the tail below them is written again.

import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";

/** The lines below the finished ones, and where the user types. */
export interface Tail {
  readonly lines: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
  /** Whether there was no time for all of it: the next frame is due at once, after the keys that wait. */
  readonly isPartial?: boolean;
}

const csi = "\u001b[";
/** Terminals that know it show what is between the two at once. */
const beginFrame = `${csi}?2026h${csi}?25l`;
const endFrame = `${csi}?2026l`;
const toLineEnd = `${csi}K`;
const toScreenEnd = `${csi}J`;
const reset = `${csi}0m`;

/**
 * The cursor of the terminal is always in the tail. A line takes one row: the caller gives none that is wider than the
 * terminal, and no more than fit.
 */
export class TailWriter {
  /** The tail on the terminal. */
  #lines: readonly string[] = [];
  #row = 0;
  #column = 0;
  /** The width for which it was written. */
  #columns = 0;

  /** The bytes that print `finished` above the tail and turn the tail into `next`; empty if nothing changes. */
  frame(finished: readonly string[], next: Tail, columns: number, rows: number): string {
    const isResized = columns !== this.#columns && this.#columns !== 0;
    const body =
      finished.length > 0 || isResized ? this.#rewritten(finished, next, columns, rows) : this.#changed(next);
    this.#columns = columns;
    const cursor = this.#cursorTo(next);
    if (body === "" && cursor === "") return "";
    return `${beginFrame}${body}${cursor}${next.cursor === undefined ? "" : `${csi}?25h`}${endFrame}`;
  }

  /** The bytes that remove the tail. The cursor is then where it began. */
  clear(columns: number, rows: number): string {
    if (this.#lines.length === 0) return "";
    const body = `${this.#toTop(columns, rows)}${toScreenEnd}${csi}?25h`;
    this.#lines = [];
    this.#row = 0;
    this.#column = 0;
    return body;
  }

  /** Everything from the top of the tail on, line over line, so that nothing is blank in between. */
  #rewritten(finished: readonly string[], { lines }: Tail, columns: number, rows: number): string {
    const written = [...finished, ...lines].map((line) => `${line}${reset}${toLineEnd}`);
    const body = `${this.#toTop(columns, rows)}${written.join("\r\n")}`;
    // the tail may be empty: the cursor is then on a line of its own
    const end = lines.length === 0 && finished.length > 0 ? "\r\n" : "";
    this.#lines = lines;
    this.#row = Math.max(0, lines.length - 1);
    this.#column = -1;
    return `${body}${end}${toScreenEnd}`;
  }

  #changed({ lines }: Tail): string {
    const old = this.#lines;
    let body = "";
    for (const [at, line] of lines.entries()) {
      if (at < old.length && old[at] === line) continue;
      body += `${at < Math.max(1, old.length) ? this.#toRow(at) : this.#newRow(at)}\r${line}${reset}${toLineEnd}`;
      this.#column = -1;
    }
    if (lines.length < old.length) {
      body += `${this.#toRow(lines.length)}\r${toScreenEnd}`;
      this.#column = 0;
    }
    this.#lines = lines;
    return body;
  }

  #cursorTo({ lines, cursor }: Tail): string {
    const row = cursor?.row ?? Math.max(0, lines.length - 1);
    const column = cursor?.column ?? 0;
    if (row === this.#row && column === this.#column) return "";
    const moved = `${this.#toRow(row)}\r${column > 0 ? `${csi}${column}C` : ""}`;
    this.#column = column;
    return moved;
  }

  #toRow(row: number): string {
    const by = row - this.#row;
    this.#row = row;
    if (by === 0) return "";
    return by > 0 ? `${csi}${by}B` : `${csi}${-by}A`;
  }

  /** A line feed at the end of the screen scrolls; moving down does not. */
  #newRow(row: number): string {
    const before = this.#toRow(row - 1);
    this.#row = row;
    return `${before}\r\n`;
  }

  /**
   * To the first row of the tail. A terminal that has become narrower has wrapped its lines. xterm.js also moves the cursor
   * by the rows that it adds below it: wide lines belong above the cursor.
   */
  #toTop(columns: number, rows: number): string {
    const isNarrower = columns < this.#columns;
    const above = this.#lines.slice(0, this.#row);
    const wrapped = (line: string) => (isNarrower ? Math.max(1, Math.ceil(visibleWidth(line) / columns)) : 1);
    const within = isNarrower ? Math.floor(Math.max(0, this.#column) / columns) : 0;
    const up = Math.min(
      rows - 1,
      above.map(wrapped).reduce((sum, each) => sum + each, within),
    );
    this.#row = 0;
    return up > 0 ? `${csi}${up}A\r` : "\r";
  }
}
