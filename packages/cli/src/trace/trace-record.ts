// `parley trace show FILE RECORD`: one record, whole.

import { isTraceMessage, type TraceRecord } from "@parley/conformance";
import { CommandError, usageError } from "../command/command-error.ts";
import { printable } from "../terminal/printable.ts";
import { traceItems } from "./trace-lines.ts";

export async function showRecord(path: string, given: string, json: boolean): Promise<number> {
  const wanted = /^[1-9]\d{0,14}$/.test(given) ? Number(given) : undefined;
  if (wanted === undefined) {
    throw usageError(
      `a record is a number, got ${printable(given)}`,
      "parley trace show FILE has them in its first column",
    );
  }
  let last = 0;
  for await (const item of traceItems(path)) {
    if (item.kind !== "record") continue;
    last = item.number;
    if (item.number === wanted) return print(wanted, item.record, json);
  }
  throw new CommandError(
    "not_found",
    `there is no record ${wanted} in ${printable(path)}; the last is ${last}`,
    "parley trace show FILE has them in its first column",
  );
}

function print(number: number, record: TraceRecord, json: boolean): number {
  const shown = isTraceMessage(record) ? { ...record, message: parsed(record.text) } : record;
  if (json) {
    const { t, ...rest } = shown;
    process.stdout.write(`${JSON.stringify({ v: 1, data: { record: number, ms: t, ...rest } })}\n`);
    return 0;
  }
  const { t } = record;
  const who = isTraceMessage(record)
    ? `${record.from === "client" ? "client → agent" : "client ← agent"}, ${record.bytes} bytes`
    : record.event;
  process.stdout.write(`# record ${number}, ${t.toFixed(0)} ms, ${who}\n`);
  const message = "message" in shown && isTraceMessage(record) ? shown.message : undefined;
  const text =
    message !== undefined
      ? JSON.stringify(message, null, 2)
      : isTraceMessage(record)
        ? (record.text ?? record.head ?? record.base64 ?? "")
        : JSON.stringify(record, null, 2);
  // what a peer wrote must not move the cursor
  process.stdout.write(`${text.split("\n").map(printable).join("\n")}\n`);
  return 0;
}

/** Nothing where it is no JSON: then the text is shown as it is. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
