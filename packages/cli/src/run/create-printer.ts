// Creates the printer for a format.

import { optional } from "@parley/acp/internal";
import { jsonPrinter } from "../printers/json-printer.ts";
import { bufferedOutput, StatusLine } from "../printers/output.ts";
import { quietPrinter } from "../printers/quiet-printer.ts";
import type { RunPrinter } from "../printers/run-printer.ts";
import { TextPrinter } from "../printers/text-printer.ts";
import { painter } from "../terminal/paint.ts";
import { messageLines } from "../terminal/sanitise.ts";
import type { RunOptions } from "./run-options.ts";

export function createPrinter({ format, cwd }: Pick<RunOptions, "format" | "cwd">): RunPrinter {
  const { stdout, stderr } = process;
  const warn = (text: string) => void stderr.write(messageLines(text));
  if (format === "json") return jsonPrinter(bufferedOutput(stdout));
  if (format === "quiet") return quietPrinter(bufferedOutput(stdout), warn, stdout.isTTY === true);
  // a dumb terminal cannot redraw a line
  const isDrawable = stderr.isTTY === true && stdout.isTTY === true && process.env["TERM"] !== "dumb";
  const line = isDrawable ? new StatusLine(stderr) : undefined;
  const output = bufferedOutput(stdout, () => line?.clear());
  const status = (text: string | undefined) => {
    if (text === undefined) return line?.clear();
    output.flush();
    line?.draw(text);
  };
  return new TextPrinter({
    output,
    paint: painter(stdout.isTTY === true),
    warn,
    cwd,
    ...optional({
      columns: stdout.isTTY === true ? () => stdout.columns : undefined,
      status: line && status,
    }),
  });
}
