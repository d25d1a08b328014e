// The cells of a terminal as an SVG that looks the same in every browser.

import type { IBufferCell } from "@xterm/headless";

const size = { line: 19, character: 8.43, margin: 16, bar: 34 } as const;
const ground = "#0d1117";
const ink = "#e6edf3";
/** The sixteen colours of a dark terminal. */
const colours = [
  ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"],
  ["#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"],
].flat();

interface Style {
  readonly fill: string;
  readonly back: string;
  readonly more: string;
}

/** Rows at the end without text are left out. `shown` may change a piece of text, such as a temporary path. */
export function svgOf(
  cells: readonly (readonly IBufferCell[])[],
  title: string,
  shown: (text: string) => string,
): string {
  const last = cells.findLastIndex((row) => row.some((cell) => cell.getChars().trim() !== ""));
  const rows = cells.slice(0, last + 1);
  const columns = Math.max(...rows.map((row) => row.length));
  const width = Math.ceil(columns * size.character + 2 * size.margin);
  const height = size.bar + rows.length * size.line + size.margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" fill="${ink}" role="img" aria-label="${safe(title)}">
<style>text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }</style>
<rect width="100%" height="100%" rx="8" fill="${ground}"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
${rows.flatMap((row, at) => rowOf(row, at, shown)).join("\n")}
</svg>
`;
}

/** Pieces of one style, each at its column: a font may have other widths than the terminal. */
function rowOf(row: readonly IBufferCell[], at: number, shown: (text: string) => string): string[] {
  const top = size.bar + at * size.line;
  const drawn: string[] = [];
  for (let start = 0; start < row.length; ) {
    const style = styleOf(row[start]);
    let end = start + 1;
    while (end < row.length && isSame(style, styleOf(row[end]))) end += 1;
    const x = round(size.margin + start * size.character);
    const width = round((end - start) * size.character);
    if (style.back !== ground)
      drawn.push(`<rect x="${x}" y="${top}" width="${width}" height="${size.line}" fill="${style.back}"/>`);
    const text = row
      .slice(start, end)
      .map((cell) => (cell.getWidth() === 0 ? "" : cell.getChars() || " "))
      .join("");
    if (text.trim() !== "") drawn.push(textOf(shown(text), x, top + size.line - 5, style));
    start = end;
  }
  return drawn;
}

function textOf(text: string, x: number, y: number, { fill, more }: Style): string {
  const blanks = text.length - text.trimStart().length;
  const from = round(x + blanks * size.character);
  const words = text.trim();
  const length = round(words.length * size.character);
  const colour = fill === ink ? "" : ` fill="${fill}"`;
  return `<text x="${from}" y="${y}" textLength="${length}"${colour}${more}>${safe(words)}</text>`;
}

function styleOf(cell: IBufferCell | undefined): Style {
  if (cell === undefined) return { fill: ink, back: ground, more: "" };
  const front = colourOf(cell.getFgColor(), cell.isFgRGB(), cell.isFgDefault()) ?? ink;
  const back = colourOf(cell.getBgColor(), cell.isBgRGB(), cell.isBgDefault()) ?? ground;
  const isInverse = cell.isInverse() !== 0;
  const more = [
    cell.isBold() ? ' font-weight="bold"' : "",
    cell.isItalic() ? ' font-style="italic"' : "",
    cell.isUnderline() ? ' text-decoration="underline"' : "",
    cell.isDim() ? ' opacity="0.65"' : "",
  ].join("");
  return { fill: isInverse ? back : front, back: isInverse ? front : back, more };
}

function colourOf(value: number, isTrue: boolean, isDefault: boolean): string | undefined {
  if (isDefault) return undefined;
  if (isTrue) return hex(value);
  if (value < 16) return colours[value];
  if (value >= 232) return hex((8 + (value - 232) * 10) * 0x010101);
  const level = (part: number) => (part === 0 ? 0 : 55 + 40 * part);
  const cube = value - 16;
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
  return hex(((red ?? 0) << 16) | ((green ?? 0) << 8) | (blue ?? 0));
}

function hex(value: number): string {
  return `#${value.toString(16).padStart(6, "0")}`;
}

function isSame(one: Style, other: Style): boolean {
  return one.fill === other.fill && one.back === other.back && one.more === other.more;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function safe(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
