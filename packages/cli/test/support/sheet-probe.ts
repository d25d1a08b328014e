// Draws sheets and presses keys, for tests.

import assert from "node:assert/strict";
import type { Sheet } from "../../src/chat/sheets/sheet.ts";
import { widthOf } from "../../src/draw/text-lines.ts";
import { keyPress } from "../../src/screen/key-press.ts";

const bytes: Readonly<Record<string, string>> = {
  enter: "\r",
  escape: "\u001b",
  up: "\u001b[A",
  down: "\u001b[B",
  pageUp: "\u001b[5~",
  pageDown: "\u001b[6~",
  backspace: "\u007f",
  "shift+tab": "\u001b[Z",
  "alt+up": "\u001b[1;3A",
  "alt+down": "\u001b[1;3B",
  "ctrl+x": "\u0018",
  "ctrl+u": "\u0015",
  wheelDown: "\u001b[<65;1;1M",
};

/** A sheet whose keys are pressed a second apart. */
export class SheetProbe {
  readonly sheet: Sheet;
  now = 0;

  constructor(sheet: Sheet) {
    this.sheet = sheet;
    this.text();
  }

  /** The names of keys, or text that is typed letter by letter. */
  press(...keys: readonly string[]): this {
    for (const data of keys.flatMap((key) => (bytes[key] === undefined ? [...key] : [bytes[key]]))) {
      const key = keyPress(data);
      assert.ok(key !== undefined, JSON.stringify(data));
      this.now += 1_000;
      this.sheet.key(key, this.now);
    }
    return this;
  }

  paste(text: string): this {
    this.now += 1_000;
    this.sheet.key({ data: `\u001b[200~${text}\u001b[201~`, id: "", paste: text }, this.now);
    return this;
  }

  /** The lines; they fit, and nothing in them is for the terminal but colours. */
  lines(columns = 100, rows = 20): readonly string[] {
    const { lines, cursor } = this.sheet.draw({ columns, rows }, this.now);
    assert.ok(lines.length <= rows, `${lines.length} lines in ${rows} rows`);
    for (const line of lines) {
      assert.ok(widthOf(line) <= columns, `${widthOf(line)} of ${columns} columns: ${line}`);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those must not be there
      const rest = line.replaceAll(/\u001b\[[\d;]*m/g, "");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those must not be there
      assert.doesNotMatch(rest, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b]/);
      assert.ok(rest.startsWith("│"), `no bar: ${line}`);
    }
    if (cursor !== undefined) {
      assert.ok(cursor.row < lines.length && cursor.column < columns, JSON.stringify(cursor));
    }
    return lines;
  }

  text(columns = 100, rows = 20): string {
    return this.lines(columns, rows).join("\n");
  }
}

/** The sizes at which a sheet must be usable. */
export const sheetSizes: readonly (readonly [columns: number, rows: number])[] = [60, 100, 160].flatMap(
  (columns) => [4, 6, 10, 25, 50].map((rows) => [columns, rows] as const),
);
