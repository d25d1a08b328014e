// Reads traces: recorded messages between a client and an agent, and process events, as lines of JSON.

import { isObject } from "@parley/acp/jsonrpc";

/** The supported major version; others are refused. */
export const traceVersion = 1;

/** The sender of a message. */
export type TraceSide = "client" | "agent";

/** The first line of a trace. */
export interface TraceHeader {
  /** Marks the file as a trace. */
  readonly parley: "trace";
  /** The major version of the format. Only 1 can be read. */
  readonly version: number;
  /** Grows when fields or events are added. */
  readonly minor?: number;
  /** When recording began, ISO 8601. */
  readonly startedAt?: string;
  /** The agent's command and its arguments. */
  readonly command?: readonly string[];
  /** The working directory of the agent. */
  readonly cwd?: string;
  /** The program that wrote the trace, such as `parley 0.1.0`. */
  readonly writer?: string;
  /** The version of Node that recorded it. */
  readonly node?: string;
  /** The operating system that it was recorded on, such as "linux". */
  readonly platform?: string;
}

/** A recorded line, with exactly one of `text`, `base64` and `head`. */
export interface TraceLine {
  /** Size on the wire, with its line end. */
  readonly bytes: number;
  /** The line without its line feed. */
  readonly text?: string;
  /** The same for a line that is not UTF-8. */
  readonly base64?: string;
  /** The beginning of a line that was too long to be kept. */
  readonly head?: string;
  /** False for a last line without a line feed. */
  readonly newline?: boolean;
}

/** One line of the wire. */
export interface TraceMessage extends TraceLine {
  /** Milliseconds since the start, by a monotonic clock. */
  readonly t: number;
  /** The sender. */
  readonly from: TraceSide;
}

/** An event of a process or of the trace itself. */
export type TraceEvent =
  | { readonly t: number; readonly event: "start"; readonly pid: number }
  | { readonly t: number; readonly event: "spawn_failed"; readonly message: string }
  /** One line of the agent's stderr, recorded like a message. */
  | ({ readonly t: number; readonly event: "stderr" } & TraceLine)
  | { readonly t: number; readonly event: "eof"; readonly from: TraceSide }
  | { readonly t: number; readonly event: "signal"; readonly signal: string }
  | { readonly t: number; readonly event: "exit"; readonly code?: number; readonly signal?: string }
  /** Some messages are missing, because the disk was slow, full or broken. */
  | {
      readonly t: number;
      readonly event: "dropped";
      /** "slow": at least `bytes` did not fit into the queue. "write_failed": `records` could not be written. */
      readonly reason: "slow" | "write_failed";
      readonly stream?: TraceSide | "stderr";
      readonly bytes?: number;
      readonly records?: number;
      readonly message?: string;
    }
  /** The trace has reached its size limit; nothing follows. */
  | { readonly t: number; readonly event: "limit"; readonly maxBytes: number }
  /** The end of a complete trace. Without it, the writer was killed or is still writing. */
  | { readonly t: number; readonly event: "end" };

/** One line of a trace after the first. */
export type TraceRecord = TraceMessage | TraceEvent;

/** A parsed trace. `records[0]` is record 1, which is line 2 of the file. */
export interface Trace {
  /** The first line. */
  readonly header: TraceHeader;
  /** All other lines that are known. */
  readonly records: readonly TraceRecord[];
  /** Whether an incomplete last line was left out: the writer was killed, or is still writing. */
  readonly isCutOff: boolean;
}

/** The file is not a trace, has another major version, or is damaged. */
export class TraceError extends Error {
  /** Always "TraceError". */
  override readonly name = "TraceError";
  /** The number of the line, from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/**
 * Whether a record is a message, and not an event.
 *
 * @example
 * import { readFileSync } from "node:fs";
 * import { isTraceMessage, readTrace } from "@parley/conformance";
 *
 * const { records } = readTrace(readFileSync("session.trace", "utf8"));
 * for (const { from, text } of records.filter(isTraceMessage)) console.log(from, text);
 */
export function isTraceMessage(record: TraceRecord): record is TraceMessage {
  return "from" in record && "bytes" in record;
}

/**
 * Reads a whole trace. An incomplete last line is left out.
 *
 * @param text - The content of the file.
 * @throws {TraceError} When the text is not a trace, has another major version, or is damaged.
 *
 * @example
 * import { readFileSync } from "node:fs";
 * import { readTrace } from "@parley/conformance";
 *
 * const { header, records } = readTrace(readFileSync("session.trace", "utf8"));
 * console.log(header.command, records.length);
 */
export function readTrace(text: string): Trace {
  const lines = text.split("\n");
  // after the last line feed: nothing, or an incomplete line
  const rest = lines.pop() ?? "";
  const [first = rest, ...others] = lines;
  const header = traceHeader(first);
  const records: TraceRecord[] = [];
  for (const [index, line] of others.entries()) {
    const record = traceRecord(line, index + 2);
    if (record !== undefined) records.push(record);
  }
  return { header, records, isCutOff: rest !== "" };
}

/**
 * Reads the first line of a trace. Use it with `traceRecord` for files that are too large for `readTrace`.
 *
 * @throws {TraceError} When the line is not the header of a trace, or has another major version.
 *
 * @example
 * import { open } from "node:fs/promises";
 * import { traceHeader, traceRecord } from "@parley/conformance";
 *
 * await using file = await open("session.trace");
 * let number = 0;
 * for await (const line of file.readLines()) {
 *   number += 1;
 *   console.log(number === 1 ? traceHeader(line) : traceRecord(line, number));
 * }
 */
export function traceHeader(line: string): TraceHeader {
  const value = parseJson(line);
  if (!isObject(value) || value.parley !== "trace") {
    const got = line.length > 60 ? `${line.slice(0, 60)}…` : line;
    throw new TraceError(
      `this is not a trace: its first line must be {"parley":"trace","version":${traceVersion},…}, got ${JSON.stringify(got)}`,
      1,
    );
  }
  const { version } = value;
  if (version !== traceVersion) {
    const what = JSON.stringify(version) ?? "none";
    throw new TraceError(
      `expected trace version ${traceVersion}, got ${what}; update parley, or record it again`,
      1,
    );
  }
  // as: checked above; all other fields are informational
  return value as unknown as TraceHeader;
}

/**
 * Reads any other line of a trace.
 *
 * @param number - The number of the line, from 1, for messages.
 * @returns The record, or undefined for an empty line or an unknown event.
 * @throws {TraceError} When the line is not a record.
 *
 * @example
 * import { traceRecord } from "@parley/conformance";
 *
 * const record = traceRecord('{"t":12,"event":"eof","from":"client"}', 7);
 * console.log(record?.t);
 */
export function traceRecord(line: string, number: number): TraceRecord | undefined {
  if (line === "") return undefined;
  const value = parseJson(line);
  if (!isObject(value)) throw new TraceError(`line ${number} of the trace is not a JSON object`, number);
  const problem = typeof value.t === "number" ? fieldProblem(value) : "t must be a number";
  if (problem !== undefined) throw new TraceError(`line ${number} of the trace: ${problem}`, number);
  const isKnown = typeof value.event !== "string" || events.has(value.event);
  return isKnown ? (value as unknown as TraceRecord) : undefined; // its fields have been checked
}

const events: ReadonlySet<string> = new Set<TraceEvent["event"]>([
  "start",
  "spawn_failed",
  "stderr",
  "eof",
  "signal",
  "exit",
  "dropped",
  "limit",
  "end",
]);

function fieldProblem(value: Readonly<Record<string, unknown>>): string | undefined {
  if (value.event !== undefined) {
    if (typeof value.event !== "string") return "event must be a string";
    return value.event === "stderr" ? lineProblem(value) : undefined;
  }
  if (value.from !== "client" && value.from !== "agent") return 'from must be "client" or "agent"';
  return lineProblem(value);
}

function lineProblem(value: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof value.bytes !== "number") return "bytes must be a number";
  const given = [value.text, value.base64, value.head].filter((item) => typeof item === "string");
  return given.length === 1 ? undefined : "expected exactly one of text, base64 and head";
}

/** The value of a JSON text, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
