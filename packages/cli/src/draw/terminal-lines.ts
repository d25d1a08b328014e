// Draws the output of a command as a terminal would show it: colours stay, and the cursor moves inside the card only.

import type { OutputBytes, TerminalItem } from "@parley/acp/view";
import type { Terminal } from "@xterm/headless";
import { escapedLine, safeText } from "../terminal/sanitise.ts";
import { sizeText } from "./placeholders.ts";
import { count, sourceLines } from "./text-lines.ts";

let Emulator: typeof Terminal | undefined;
let loading: Promise<void> | undefined;

/** Loads the emulator, which takes some 50 ms. Before, output is shown without colours. */
export function loadEmulation(): Promise<void> {
  loading ??= import("@xterm/headless").then((loaded) => {
    // Node does not see the names of this CommonJS module
    Emulator = loaded.Terminal ?? loaded.default.Terminal;
  });
  return loading;
}

export interface TerminalLook {
  readonly width: number;
  /** The number of lines at the end that are wanted. */
  readonly most: number;
  /** Whether colours are kept. */
  readonly isColoured: boolean;
  /** Default false: sequences are removed, and nothing is emulated. */
  readonly isPlain?: boolean;
}

export interface TerminalOutput {
  readonly lines: readonly string[];
  /** Says what is missing before them. */
  readonly before: string | undefined;
}

/** The last lines of an output. */
export function terminalOutput(terminal: TerminalItem, look: TerminalLook): TerminalOutput {
  const { output } = terminal;
  if (Emulator === undefined || look.isPlain === true) return textOutput(output.text(), look.most, output);
  const emulated = emulatedScreen(Emulator, terminal, look);
  const end = lastLine(emulated.terminal);
  const first = Math.max(0, end - look.most);
  const lines: string[] = [];
  for (let at = first; at < end; at++) lines.push(lineOf(emulated.terminal, at, look.isColoured));
  const skipped = emulated.skipped;
  if (skipped > 0 && look.most > foldedLines) return { lines, before: `${sizeText(skipped)} before` };
  const missing = skipped > 0 ? output.lines - lines.length : wholeLines(emulated.terminal, first);
  return { lines, before: missing > 0 ? `${count(missing)} lines before` : undefined };
}

/** The last lines of a text; it has only its end if some of the output was dropped. */
export function textOutput(
  text: string,
  most: number,
  output?: Pick<OutputBytes, "dropped" | "lines">,
): TerminalOutput {
  const all = sourceLines(safeText(text).trimEnd());
  const lines = all.filter((line) => all.length > 1 || line !== "").slice(-most);
  const isCut = output !== undefined && output.dropped > 0;
  const before =
    (isCut ? output.lines + (text.endsWith("\n") ? 0 : 1) : all.length) - Math.max(1, lines.length);
  return { lines, before: before > 0 ? `${count(before)} lines before` : undefined };
}

// ---- emulation

/** More is not fed: only the end is shown. */
const foldedBytes = 128 * 1024;
const expandedBytes = 4 * 1024 * 1024;
export const foldedLines = 8;
const scrollback = 20_000;
const mostColumns = 500;
const mostRows = 200;
/** Output that grows is fed to the same emulator. */
const mostEmulators = 8;

interface Emulated {
  readonly terminal: Terminal;
  readonly columns: number;
  readonly generation: number;
  readonly isWhole: boolean;
  /** The bytes before those that were fed. */
  readonly skipped: number;
  position: number;
}

const emulators = new Map<OutputBytes, Emulated>();

function emulatedScreen(Made: typeof Terminal, item: TerminalItem, { width, most }: TerminalLook): Emulated {
  const { output, size } = item;
  const columns = bounded(size?.cols, 2, mostColumns) ?? bounded(width, 2, mostColumns) ?? 80;
  const isWhole = most > foldedLines;
  const known = emulators.get(output);
  const fits =
    known !== undefined &&
    known.columns === columns &&
    known.generation === output.generation &&
    known.isWhole === isWhole &&
    known.position >= output.dropped;
  if (known !== undefined && !fits) forget(output, known);
  const emulated = fits ? known : started(Made, item, columns, isWhole);
  // the newest is the last
  emulators.delete(output);
  emulators.set(output, emulated);
  for (const [old, each] of emulators) if (emulators.size > mostEmulators) forget(old, each);
  if (output.received > emulated.position) {
    write(emulated.terminal, output.bytes(emulated.position));
    emulated.position = output.received;
  }
  return emulated;
}

function started(Made: typeof Terminal, item: TerminalItem, columns: number, isWhole: boolean): Emulated {
  const { output, size } = item;
  const rows = bounded(size?.rows, 1, mostRows) ?? 24;
  const terminal = new Made({
    cols: columns,
    rows,
    scrollback,
    // the output of a command without a terminal has line feeds alone
    convertEol: true,
    allowProposedApi: true,
    logLevel: "off",
  });
  const limit = isWhole ? expandedBytes : foldedBytes;
  const skipped = Math.max(output.dropped, output.received - limit);
  return { terminal, columns, generation: output.generation, isWhole, skipped, position: skipped };
}

function forget(output: OutputBytes, { terminal }: Emulated): void {
  emulators.delete(output);
  terminal.dispose();
}

/** Drawing does not wait. The public `write` parses later; the same parser can be called directly. */
function write(terminal: Terminal, bytes: Uint8Array): void {
  const { _core: core } = terminal as unknown as { _core: { writeSync(data: Uint8Array): void } }; // not public
  core.writeSync(bytes);
}

function bounded(value: number | undefined, least: number, most: number): number | undefined {
  return value !== undefined && Number.isInteger(value) && value >= least ? Math.min(value, most) : undefined;
}

/** Behind the last line that has text. */
function lastLine({ buffer: { active } }: Terminal): number {
  let end = active.length;
  while (end > 0 && (active.getLine(end - 1)?.translateToString(true) ?? "") === "") end -= 1;
  return end;
}

/** A line that goes on below counts once. */
function wholeLines({ buffer: { active } }: Terminal, end: number): number {
  let lines = 0;
  for (let at = 0; at < end; at++) if (active.getLine(at)?.isWrapped === false) lines += 1;
  return lines;
}

type BufferLine = NonNullable<ReturnType<Terminal["buffer"]["active"]["getLine"]>>;
type Cell = NonNullable<ReturnType<BufferLine["getCell"]>>;

function lineOf({ buffer: { active } }: Terminal, at: number, isColoured: boolean): string {
  const line = active.getLine(at);
  if (line === undefined) return "";
  const text = line.translateToString(true);
  // what reorders or hides text has no cell of its own, and would go on behind the card
  if (!isColoured) return escapedLine(text);
  let shown = "";
  let style = "";
  let cell: Cell | undefined;
  let rest = text.length;
  for (let column = 0; column < line.length && rest > 0; column++) {
    cell = line.getCell(column, cell);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const chars = cell.getChars() || " ";
    const next = styleOf(cell);
    if (next !== style) shown += `${style === "" ? "" : "\u001b[0m"}${next === "" ? "" : `\u001b[${next}m`}`;
    style = next;
    shown += escapedLine(chars);
    rest -= chars.length;
  }
  return style === "" ? shown : `${shown}\u001b[0m`;
}

/** SGR parameters. Blinking and hidden text are not kept: text must be readable. */
function styleOf(cell: Cell): string {
  if (cell.isAttributeDefault()) return "";
  return [
    cell.isBold() ? "1" : "",
    cell.isDim() ? "2" : "",
    cell.isItalic() ? "3" : "",
    cell.isUnderline() ? "4" : "",
    cell.isInverse() ? "7" : "",
    cell.isStrikethrough() ? "9" : "",
    colourOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor(), 30),
    colourOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor(), 40),
  ]
    .filter((part) => part !== "")
    .join(";");
}

function colourOf(isRgb: boolean, isPalette: boolean, colour: number, base: 30 | 40): string {
  if (isRgb) return `${base + 8};2;${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`;
  if (!isPalette) return "";
  if (colour < 8) return String(base + colour);
  return colour < 16 ? String(base + 52 + colour) : `${base + 8};5;${colour}`;
}
