// `parley trace show FILE [RECORD]`: prints a trace, one line per message and event.

import { optional } from "@parley/acp/jsonrpc";
import {
  isTraceMessage,
  type TraceEvent,
  type TraceHeader,
  type TraceMessage,
  type TraceRecord,
} from "@parley/conformance";
import { CommandError, type Invocation, printAnswer, usageError } from "../command/command.ts";
import { shellLine } from "../command/shell-words.ts";
import { painter } from "../terminal/paint.ts";
import { escapedJson, escapedLine } from "../terminal/sanitise.ts";
import { placeOf } from "./hop-journeys.ts";
import { traceFile, traceItems, withTraceErrors } from "./read-trace.ts";
import { type WireMessage, WireReader, wireLine } from "./wire-line.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const path = traceFile(positionals, "trace show");
  const [, record] = positionals;
  await withTraceErrors(path, async () => {
    if (record !== undefined) return showRecord(path, record, json);
    if (values.hops === true) return (await import("./trace-hops.ts")).showHops(path, json);
    const output = json ? jsonOutput() : proseOutput();
    const reader = new WireReader();
    let hops = 1;
    for await (const item of traceItems(path, { follow: values.follow === true })) {
      if (item.kind === "header") output.header(item.header);
      else if (item.kind === "cut off") output.cutOff();
      else if (!isTraceMessage(item.record)) output.event(item.number, item.record);
      else {
        const place = placeOf(item.record);
        hops = Math.max(hops, place + 1);
        // in the record of a chain, each message is there once per hop: the client's side is shown
        if (place === 0) output.message(item.number, item.record, reader.read(item.record));
      }
    }
    output.end(hops);
  });
  return 0;
}

interface Output {
  header(header: TraceHeader): void;
  message(number: number, message: TraceMessage, read: WireMessage): void;
  event(number: number, event: TraceEvent): void;
  cutOff(): void;
  end(hops: number): void;
}

function jsonOutput(): Output {
  let messages = 0;
  let isCutOff = false;
  const print = (fields: object) => void process.stdout.write(`${escapedJson({ v: 1, ...fields })}\n`);
  return {
    header: ({ parley: _, ...header }) => print({ type: "header", header }),
    message(record, { t, from, bytes }, { facts }) {
      messages += 1;
      print({ type: "message", record, ms: t, from, bytes, ...facts });
    },
    event: (record, { t, ...event }) => print({ type: "event", record, ms: t, ...event }),
    cutOff() {
      isCutOff = true;
    },
    end: (hops) => print({ type: "end", messages, cutOff: isCutOff, ...(hops > 1 && { hops }) }),
  };
}

function proseOutput(): Output {
  const columns = Math.max(60, (process.stdout.columns ?? 160) - 7);
  const paint = painter(process.stdout.isTTY === true);
  const sessions = new Map<string, string>();
  const print = (number: number | "", line: string) =>
    void process.stdout.write(`${String(number).padStart(5)}  ${line}\n`);
  let messages = 0;
  let complete = false;
  return {
    header({ command, startedAt, cwd, writer }) {
      const what = command === undefined ? "an unknown command" : shellLine(command);
      process.stdout.write(
        escapedLine(`# ${what}, in ${cwd ?? "?"}, from ${startedAt ?? "?"}, by ${writer ?? "?"}`),
      );
      process.stdout.write("\n");
    },
    message(number, { from, t, text, head, base64, bytes }, read) {
      messages += 1;
      const { session, latencyMs } = read.facts;
      if (session !== undefined && !sessions.has(session)) sessions.set(session, `s${sessions.size + 1}`);
      // several sessions get numbers
      const about = session === undefined || sessions.size < 2 ? "" : ` [${sessions.get(session)}]`;
      const note = `${latencyMs === undefined ? "" : ` after ${latencyMs.toFixed(1)} ms`}${about}`;
      const shown = text ?? (head === undefined ? `${bytes} bytes: ${base64}` : `${bytes} bytes: ${head}`);
      print(number, wireLine({ from, t, text: shown }, read, { columns, paint, note }));
    },
    event(number, event) {
      complete ||= event.event === "end" || event.event === "limit";
      print(
        number,
        `${event.t.toFixed(0).padStart(5)} ms  ${escapedLine(eventText(event)).slice(0, columns - 10)}`,
      );
    },
    cutOff: () => print("", "the last line was cut off"),
    end(hops) {
      const state = complete ? "" : "; the trace has no end: the tap was killed or is still running";
      process.stdout.write(`# ${messages} messages${state}\n`);
      if (sessions.size > 1)
        for (const [id, name] of sessions) process.stdout.write(`# ${name} is session ${escapedLine(id)}\n`);
      if (hops > 1)
        process.stdout.write(
          `# the client's side of a chain with ${hops} hops; --hops shows what each proxy changed\n`,
        );
    },
  };
}

function eventText(event: TraceEvent): string {
  switch (event.event) {
    case "start":
      return `the agent was started, pid ${event.pid}`;
    case "spawn_failed":
      return event.message;
    case "stderr":
      return `stderr: ${event.text ?? event.head ?? `${event.bytes} bytes`}`;
    case "eof":
      return event.from === "client" ? "the client closed the agent's input" : "the agent closed its output";
    case "signal":
      return `${event.signal} was passed on to the agent`;
    case "exit":
      return event.signal === undefined
        ? `the agent exited with code ${event.code}`
        : `the agent was ended by ${event.signal}`;
    case "dropped":
      return event.reason === "slow"
        ? `DROPPED: at least ${event.bytes} bytes of ${event.stream}, the disk was too slow`
        : `DROPPED: ${event.records} records could not be written: ${event.message}`;
    case "limit":
      return `the trace has reached ${event.maxBytes} bytes and ends here`;
    case "end":
      return "the end of the trace";
  }
}

const hint = "parley trace show FILE prints the numbers in its first column";

export async function showRecord(path: string, given: string, json: boolean): Promise<void> {
  if (!/^[1-9]\d{0,14}$/.test(given))
    throw usageError(`expected the number of a record, got ${escapedLine(given)}`, hint);
  const wanted = Number(given);
  let last = 0;
  for await (const item of traceItems(path)) {
    if (item.kind !== "record") continue;
    last = item.number;
    if (item.number === wanted) return printRecord(wanted, item.record, json);
  }
  const message = `there is no record ${wanted} in ${escapedLine(path)}; the last is ${last}`;
  throw new CommandError("not_found", message, hint);
}

function printRecord(number: number, record: TraceRecord, json: boolean): void {
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
