// The answers of a question as rows: the keys in colour, what each answer covers, and the rule that it makes.

import { clipped, padded, widthOf } from "../draw/text-lines.ts";
import type { Paint } from "../terminal/paint.ts";

/** An answer to show: its keys, what they mean, and the rule that is remembered. */
export interface ShownAnswer {
  readonly keys: string;
  readonly text: string;
  /** The same in few words, for a small window. */
  readonly short?: string;
  readonly rule?: string;
  /** Whether it has a row of its own where there is room. */
  readonly isListed?: boolean;
}

/** Fewer characters of a rule say nothing. */
const fewestOfRule = 12;

/** As few rows as possible; no answer is in two of them. */
export function packedAnswers(answers: readonly ShownAnswer[], columns: number, paint: Paint): string[] {
  const rows: { width: number; line: string }[] = [];
  for (const { keys, text, short = text } of answers) {
    const plain = clipped(`${keys} ${short}`.trimStart(), columns - 2);
    const line = plain.startsWith(keys)
      ? `${keys === "" ? "" : paint("accent", keys)}${plain.slice(keys.length)}`
      : plain;
    const width = widthOf(plain);
    const last = rows.at(-1);
    if (last !== undefined && last.width + 2 + width <= columns)
      rows[rows.length - 1] = { width: last.width + 2 + width, line: `${last.line}  ${line}` };
    else rows.push({ width: 2 + width, line: `  ${line}` });
  }
  return rows.map(({ line }) => line);
}

/** A row for each answer that is listed, with its rule; the others share rows. */
export function listedAnswers(answers: readonly ShownAnswer[], columns: number, paint: Paint): string[] {
  const listed = answers.filter(({ isListed }) => isListed === true);
  const rest = answers.filter(({ isListed }) => isListed !== true);
  const room = columns - 5;
  const width = Math.max(0, ...listed.map(({ text }) => widthOf(text)));
  const rows = listed.map(({ keys, text, short = text, rule = "" }) => {
    const left = room - width - 2;
    const shown = clipped(widthOf(text) <= room ? text : short, room);
    const isShown = rule !== "" && left >= fewestOfRule;
    const kept = isShown ? `${padded("", width - widthOf(shown))}  ${paint("dim", clipped(rule, left))}` : "";
    return `  ${paint("accent", keys)}  ${shown}${kept}`;
  });
  return [...rows, ...packedAnswers(rest, columns, paint)];
}
