// `parley trace show FILE RECORD`: prints one record in full.

import { optional } from "@parley/acp/internal";
import { isTraceMessage, type TraceRecord } from "@parley/conformance";
import { CommandError, usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { traceItems } from "./trace-lines.ts";

const hint = "parley trace show FILE prints the numbers in its first column";

export async function showRecord(path: string, given: string, json: boolean): Promise<void> {
  if (!/^[1-9]\d{0,14}$/.test(given))
    throw usageError(`expected the number of a record, got ${escapedLine(given)}`, hint);
  const wanted = Number(given);
  let last = 0;
  for await (const item of traceItems(path)) {
    if (item.kind !== "record") continue;
    last = item.number;
    if (item.number === wanted) return print(wanted, item.record, json);
  }
  const message = `there is no record ${wanted} in ${escapedLine(path)}; the last is ${last}`;
  throw new CommandError("not_found", message, hint);
}

function print(number: number, record: TraceRecord, json: boolean): void {
  const { t, ...rest } = record;
  const isMessage = isTraceMessage(record);
  const message = isMessage ? parsed(record.text) : undefined;
  const sender = isMessage
    ? `${record.from === "client" ? "client → agent" : "client ← agent"}, ${record.bytes} bytes`
    : record.event;
  const text = isMessage
    ? message === undefined
      ? (record.text ?? record.head ?? record.base64 ?? "")
      : JSON.stringify(message, null, 2)
    : JSON.stringify(record, null, 2);
  printAnswer(
    `# record ${number}, ${t.toFixed(0)} ms, ${sender}\n${text.split("\n").map(escapedLine).join("\n")}`,
    { record: number, ms: t, ...rest, ...optional({ message }) },
    json,
  );
}

/** Undefined if the text is not JSON. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
