// How items are drawn.

import type { Paint } from "../terminal/paint.ts";
import { type Marks, unicodeMarks } from "./marks.ts";

export interface DrawOptions {
  /** No line is wider. Infinity: lines are not wrapped. */
  readonly width: number;
  readonly paint: Paint;
  /** Paths are shown relative to it. */
  readonly cwd: string;
  /** Whether everything is shown. Default: long output and thoughts are folded. */
  readonly isExpanded?: boolean;
  /** In milliseconds since 1970, to show how long something has been running. Default: that is not shown. */
  readonly now?: number;
  /** Default: unicode. */
  readonly marks?: Marks;
}

/** With all values. */
export type Drawing = Required<Omit<DrawOptions, "now">> & Pick<DrawOptions, "now">;

/** A narrower terminal shows the beginnings of lines. */
const fewestColumns = 20;

export function drawing(options: DrawOptions): Drawing {
  const { width, isExpanded = false, marks = unicodeMarks } = options;
  const usable = Number.isNaN(width) ? 80 : Math.max(fewestColumns, Math.floor(width));
  return { ...options, width: usable, isExpanded, marks };
}
