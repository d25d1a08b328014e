// Draws the output of a command, with its colours, as an SVG: COMMAND | node scripts/draw-terminal.ts TITLE > picture.svg

import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";

const size = { line: 19, character: 8.43, margin: 16, bar: 34 } as const;

/** The colours that Parley prints with, by their number. */
const colours: Readonly<Record<string, string>> = {
  "2": "#8b949e",
  "31": "#ff7b72",
  "32": "#7ee787",
  "33": "#e3b341",
  "36": "#79c0ff",
};

const escapeCode = "\u001b";
const colour = new RegExp(`(${escapeCode}\\[[\\d;]*m)`);

/** One line as pieces of one colour. */
function pieces(line: string): string {
  let fill: string | undefined;
  return line
    .split(colour)
    .map((piece) => {
      if (!piece.startsWith(escapeCode)) return span(piece, fill);
      // a reset has no colour
      fill = colours[piece.slice(2, -1)];
      return "";
    })
    .join("");
}

function span(words: string, fill: string | undefined): string {
  if (words === "") return "";
  const safe = words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return fill === undefined ? safe : `<tspan fill="${fill}">${safe}</tspan>`;
}

const [title = ""] = process.argv.slice(2);
const printed = (await text(process.stdin)).replaceAll("\r", "").trimEnd().split("\n");
// a status line is erased before something else is printed
const lines = printed.map((line) => line.split(`${escapeCode}[K`).at(-1) ?? "");
const columns = Math.max(...lines.map((line) => stripVTControlCharacters(line).length));
const width = Math.ceil(columns * size.character + 2 * size.margin);
const height = size.bar + lines.length * size.line + size.margin;
const rows = lines.map(
  (line, at) => `<text x="${size.margin}" y="${size.bar + (at + 1) * size.line - 5}">${pieces(line)}</text>`,
);
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
<style>text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre }</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
${rows.join("\n")}
</svg>
`);
