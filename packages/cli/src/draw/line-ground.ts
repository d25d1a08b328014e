// Puts a background under text that has colours already.

import type { Paint, Role } from "../terminal/paint.ts";

const reset = "\u001b[0m";
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
const colours = /(\u001b\[[\d;]*m)/;

/** What a theme writes before text of a role. Empty where it has no colours. */
function beginOf(role: Role, paint: Paint): string {
  return paint(role, "x").split("x")[0] ?? "";
}

/** The whole line, with its own colours on it. */
export function onGround(line: string, role: Role, paint: Paint): string {
  const begin = beginOf(role, paint);
  return begin === "" ? line : `${begin}${line.replaceAll(reset, `${reset}${begin}`)}${reset}`;
}

/** The characters from `start` to `end`, not counting colours, with a mark under them. */
export function markedPart(line: string, start: number, end: number, role: Role, paint: Paint): string {
  const begin = beginOf(role, paint);
  if (begin === "" || start >= end) return line;
  let shown = "";
  let [at, style] = [0, ""];
  for (const piece of line.split(colours)) {
    if (piece.startsWith("\u001b")) {
      style = piece === reset ? "" : `${style}${piece}`;
      shown += piece === reset && at > start && at < end ? `${reset}${begin}` : piece;
      continue;
    }
    const [from, to] = [start - at, end - at].map((place) => Math.min(piece.length, Math.max(0, place))) as [
      number,
      number, // of two
    ];
    at += piece.length;
    if (from === to) shown += piece;
    else
      shown += `${piece.slice(0, from)}${begin}${piece.slice(from, to)}${
        at >= end ? `${reset}${style}` : ""
      }${piece.slice(to)}`;
  }
  return shown;
}
