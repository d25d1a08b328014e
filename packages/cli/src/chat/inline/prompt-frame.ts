// The edge around the prompt: a line above it with the title of the session, a bar on its left and a corner below.

import { clipped, widthOf } from "../../draw/text-lines.ts";
import type { DrawnPrompt } from "../../screen/prompt-editor.ts";
import type { Paint } from "../../terminal/paint.ts";

/** A smaller window has no room for an edge; beside a question it must be larger. */
const fewestRows = 12;
const fewestAskedRows = 20;
const fewestColumns = 30;
const longestTitle = 40;
const bar = "│ ";
const below = "╰─ Ctrl-K lists all commands";

export interface PromptFrame {
  readonly columns: number;
  readonly rows: number;
  readonly title: string | undefined;
  readonly paint: Paint;
  /** Whether the cursor is in the prompt. */
  readonly isFocused: boolean;
}

/** The columns that the edge takes from the prompt. */
export function frameColumns({ columns, rows, isFocused }: PromptFrame): number {
  const fewest = isFocused ? fewestRows : fewestAskedRows;
  return columns < fewestColumns || rows < fewest ? 0 : bar.length;
}

/** `prompt` was drawn with so many columns less. */
export function framedPrompt(prompt: DrawnPrompt, frame: PromptFrame): DrawnPrompt {
  if (frameColumns(frame) === 0) return prompt;
  const { columns, title, paint, isFocused } = frame;
  const name = title === undefined ? "" : ` ${clipped(title, Math.min(longestTitle, columns - 8))} `;
  // a line as wide as the window would be wrapped when that becomes narrower, and could not be drawn over
  const above = `╭─${name}${"─".repeat(Math.max(2, below.length - 2 - widthOf(name)))}`;
  const { lines, cursor, menu } = prompt;
  return {
    ...prompt,
    lines: [
      paint("dim", above),
      ...lines.map((line) => `${paint("dim", bar)}${line}`.trimEnd()),
      paint("dim", isFocused ? below : "╰─"),
    ],
    menu: menu.map((line) => `  ${line}`),
    ...(cursor && { cursor: { row: cursor.row + 1, column: cursor.column + bar.length } }),
  };
}
