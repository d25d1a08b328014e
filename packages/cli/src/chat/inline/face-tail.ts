// Puts the parts of the face below one another, as far as the window has room for them.

import type { DrawnPrompt } from "../../screen/prompt-editor.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { SheetSize } from "../sheets/sheet.ts";

/** A list that the user opens is at most so high: what it pushes out of the window does not come back. */
const openedRows = 14;

export interface FaceTail {
  readonly columns: number;
  readonly rows: number;
  /** The lines of the transcript that may still change. */
  readonly open: readonly string[];
  /** Whether anything stands above them. */
  readonly hasPrinted: boolean;
  /** The plan, work in the background, prompts that wait. */
  readonly pinned: readonly string[];
  /** A question, or a list that the user opened. */
  readonly sheet: { readonly isOpened: boolean; readonly draw: (size: SheetSize) => Tail } | undefined;
  /** Whether it gets the keys. */
  readonly isSheetFocused: boolean;
  readonly status: string;
  readonly prompt: DrawnPrompt;
}

export function faceTail(face: FaceTail): Tail {
  const { columns, rows, sheet, pinned, hasPrinted, status, prompt } = face;
  const below = prompt.lines.length + prompt.menu.length + 1;
  // a question that does not fit must know it: it would be answered unseen
  const room = Math.max(1, rows - below - 2, Math.min(4, rows - below - 1));
  // what the user opens leaves the transcript in sight
  const most = sheet?.isOpened === true ? Math.min(room, openedRows) : room;
  const drawn = sheet?.draw({ columns, rows: most });
  // beside a question as far as there is room; a list that the user opened stands alone
  const isShown =
    drawn === undefined || (sheet?.isOpened !== true && drawn.lines.length + pinned.length + 3 <= room);
  const extras = isShown ? pinned : [];
  const left = Math.max(1, room - (drawn?.lines.length ?? 0) - extras.length - 1);
  const open = face.open.slice(-left);
  const isBelow = hasPrinted || open.length > 0;
  const above = [...open, ...(isBelow && extras.length > 0 ? [""] : []), ...extras];
  const blank = isBelow || above.length > 0 || drawn !== undefined ? [""] : [];
  const sheetRow = above.length + blank.length;
  const lines = [...above, ...blank, ...(drawn?.lines ?? []), status];
  const promptRow = lines.length;
  const isSheetFocused = drawn !== undefined && face.isSheetFocused;
  const cursor = isSheetFocused ? drawn.cursor : prompt.cursor;
  const row = isSheetFocused ? sheetRow : promptRow;
  return {
    lines: [...lines, ...prompt.lines, ...prompt.menu],
    ...(cursor && { cursor: { row: cursor.row + row, column: cursor.column } }),
  };
}
