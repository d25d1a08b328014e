// `parley trace show FILE [RECORD]`: a trace for people, one line per message and event, or one JSON object per line.

import { isTraceMessage, type TraceEvent, type TraceHeader, type TraceMessage } from "@parley/conformance";
import { exitOnClosedOutput } from "../command/closed-output.ts";
import type { Invocation } from "../command/command.ts";
import { printable } from "../terminal/printable.ts";
import { missingFile, withTraceErrors } from "./trace-failure.ts";
import { traceItems } from "./trace-lines.ts";
import { showRecord } from "./trace-record.ts";
import { WirePrinter } from "./wire-printer.ts";

/** What a line of the wire is, as far as it can be told. */
interface Facts {
  readonly kind: "request" | "notification" | "answer" | "error" | "batch" | "not JSON";
  readonly method?: string;
  readonly id?: unknown;
  readonly session?: string;
  /** Of an answer: how long after its request it came. */
  readonly latencyMs?: number;
}

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const [path, record] = positionals;
  if (path === undefined) return missingFile("trace show", json);
  exitOnClosedOutput();
  return withTraceErrors(path, json, async () => {
    if (record !== undefined) return showRecord(path, record, json);
    const output = json ? jsonOutput() : proseOutput();
    const reader = new Correlator();
    for await (const item of traceItems(path, { follow: values.follow === true })) {
      if (item.kind === "header") output.header(item.header);
      else if (item.kind === "cut off") output.cutOff();
      else if (isTraceMessage(item.record))
        output.message(item.number, item.record, reader.read(item.record));
      else output.event(item.number, item.record);
    }
    output.end();
    return 0;
  });
}

/** Knows which request an answer belongs to, and when it was sent. */
class Correlator {
  readonly #open = new Map<string, { method: string; t: number; session: string | undefined }>();

  read({ from, t, text }: TraceMessage): Facts {
    const value = parse(text ?? "");
    if (Array.isArray(value)) return { kind: "batch" };
    if (typeof value !== "object" || value === null) return { kind: "not JSON" };
    const { id, method, params, error } = value as Record<string, unknown>;
    if (typeof method === "string") {
      const session = sessionOf(params);
      if (id !== undefined) this.#open.set(`${from} ${JSON.stringify(id)}`, { method, t, session });
      const about = session === undefined ? {} : { session };
      return id === undefined
        ? { kind: "notification", method, ...about }
        : { kind: "request", method, id, ...about };
    }
    const key = `${from === "client" ? "agent" : "client"} ${JSON.stringify(id)}`;
    const asked = this.#open.get(key);
    this.#open.delete(key);
    const kind = error === undefined ? "answer" : "error";
    if (asked === undefined) return { kind, id };
    const latencyMs = Number((t - asked.t).toFixed(3));
    const about = asked.session === undefined ? {} : { session: asked.session };
    return { kind, method: asked.method, id, ...about, latencyMs };
  }
}

interface Output {
  header(header: TraceHeader): void;
  message(number: number, message: TraceMessage, facts: Facts): void;
  event(number: number, event: TraceEvent): void;
  cutOff(): void;
  end(): void;
}

function jsonOutput(): Output {
  let messages = 0;
  let isCutOff = false;
  const print = (fields: object) => void process.stdout.write(`${JSON.stringify({ v: 1, ...fields })}\n`);
  return {
    header: ({ parley: _, ...header }) => print({ type: "header", header }),
    message(record, { t, from, bytes }, facts) {
      messages += 1;
      print({ type: "message", record, ms: t, from, bytes, ...facts });
    },
    event: (record, { t, ...event }) => print({ type: "event", record, ms: t, ...event }),
    cutOff() {
      isCutOff = true;
    },
    end: () => print({ type: "end", messages, cutOff: isCutOff }),
  };
}

function proseOutput(): Output {
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const columns = Math.max(60, (process.stdout.columns ?? 160) - 7);
  const printer = new WirePrinter({ columns, colour });
  const sessions = new Map<string, string>();
  const print = (number: number | "", line: string) =>
    void process.stdout.write(`${String(number).padStart(5)}  ${line}\n`);
  let messages = 0;
  let complete = false;
  return {
    header({ command, startedAt, cwd, writer }) {
      const what = command === undefined ? "an unknown command" : command.join(" ");
      process.stdout.write(
        printable(`# ${what}, in ${cwd ?? "?"}, from ${startedAt ?? "?"}, by ${writer ?? "?"}`),
      );
      process.stdout.write("\n");
    },
    message(number, { from, t, text, head, base64, bytes }, { session, latencyMs }) {
      messages += 1;
      if (session !== undefined && !sessions.has(session)) sessions.set(session, `s${sessions.size + 1}`);
      // One session goes without saying; several get numbers.
      const about = session === undefined || sessions.size < 2 ? "" : ` [${sessions.get(session)}]`;
      const note = `${latencyMs === undefined ? "" : ` after ${latencyMs.toFixed(1)} ms`}${about}`;
      const shown = text ?? (head === undefined ? `${bytes} bytes: ${base64}` : `${bytes} bytes: ${head}`);
      print(number, printer.line({ from, text: shown, ms: t, note }));
    },
    event(number, event) {
      complete ||= event.event === "end" || event.event === "limit";
      print(
        number,
        `${event.t.toFixed(0).padStart(5)} ms  ${printable(eventText(event)).slice(0, columns - 10)}`,
      );
    },
    cutOff: () => print("", "the last line was cut off"),
    end() {
      const state = complete ? "" : "; it has no end: the tap was killed, or still runs";
      process.stdout.write(`# ${messages} messages${state}\n`);
      if (sessions.size < 2) return;
      for (const [id, name] of sessions) process.stdout.write(`# ${name} is session ${printable(id)}\n`);
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

function sessionOf(params: unknown): string | undefined {
  if (typeof params !== "object" || params === null || !("sessionId" in params)) return undefined;
  return typeof params.sessionId === "string" ? params.sessionId : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // shown as it is
    return undefined;
  }
}
