// Converts a trace to a plan for one side: what it sends and what it waits for.

import { readEnvelopeHead } from "@parley/acp/internal";
import { isObject, optional } from "@parley/acp/jsonrpc";
import {
  isTraceMessage,
  parseJson,
  type Trace,
  TraceError,
  type TraceEvent,
  type TraceMessage,
  type TraceSide,
} from "../trace/trace.ts";

export type Json = Readonly<Record<string, unknown>>;

/** One JSON-RPC message of the recording; a batch has several in one record. */
export interface RecordedMessage {
  /** The number of its record, counted from 1. */
  readonly record: number;
  readonly kind: "request" | "notification" | "response" | "unknown";
  readonly method: string | undefined;
  readonly session: string | undefined;
  readonly value: Json;
  /** The request of a response. */
  readonly answers: RecordedMessage | undefined;
}

/** A line to send: a message, a batch, or other text. */
export interface SendStep {
  readonly kind: "send";
  readonly record: number;
  readonly t: number;
  readonly text: string;
  readonly isBatch: boolean;
  readonly messages: readonly RecordedMessage[];
}

/** A message to wait for. */
export interface ExpectStep {
  readonly kind: "expect";
  readonly record: number;
  readonly t: number;
  readonly message: RecordedMessage;
}

export interface ReplayPlan {
  readonly steps: readonly (SendStep | ExpectStep)[];
  /** Lines that cannot be sent again, because they were not UTF-8. */
  readonly skipped: number;
  /** Whether the played side ended before its input did. */
  readonly endsFirst: boolean;
  /** How the recorded agent exited. */
  readonly exit: { readonly code?: number; readonly signal?: string } | undefined;
}

/** Throws a TraceError when a message of the side is missing or incomplete. */
export function replayPlan(trace: Trace, side: TraceSide): ReplayPlan {
  const open = new Map<string, RecordedMessage>();
  const steps: (SendStep | ExpectStep)[] = [];
  const end = { first: undefined as TraceSide | undefined, exit: undefined as ReplayPlan["exit"] };
  let skipped = 0;
  for (const [index, item] of trace.records.entries()) {
    const record = index + 1;
    if (!isTraceMessage(item)) noteEvent(item, record, end);
    else if (item.base64 === undefined) steps.push(...messageSteps(item, record, side, open));
    else if (item.from === side) skipped += 1;
  }
  return { steps, skipped, endsFirst: end.first === side, exit: end.exit };
}

function noteEvent(
  item: TraceEvent,
  record: number,
  end: { first: TraceSide | undefined; exit: ReplayPlan["exit"] },
): void {
  if (item.event === "dropped" && item.stream !== "stderr") {
    throw missing(record, "the recorder dropped messages here, because the disk was slow or full");
  }
  if (item.event === "limit") throw missing(record, "the trace was cut at --max-bytes");
  if (item.event === "eof") end.first ??= item.from;
  if (item.event !== "exit") return;
  end.first ??= "agent";
  end.exit = item;
}

function messageSteps(
  item: TraceMessage,
  record: number,
  side: TraceSide,
  open: Map<string, RecordedMessage>,
): (SendStep | ExpectStep)[] {
  const { t, from, head, bytes } = item;
  if (from === side && head !== undefined) {
    const hint = "record it again with a larger --max-line";
    throw missing(record, `only the beginning of a message of ${bytes} bytes was kept; ${hint}`);
  }
  const text = item.text ?? "";
  const value = head === undefined ? parseJson(text) : headOf(head);
  const isBatch = Array.isArray(value);
  const messages = (isBatch ? value : [value])
    .filter(isObject)
    .map((each) => recordedMessage(each, { record, from, open }));
  if (from !== side) {
    const known = messages.filter(({ kind }) => kind !== "unknown");
    return known.map((message) => ({ kind: "expect", record, t, message }));
  }
  // skip blank lines
  return text.trim() === "" ? [] : [{ kind: "send", record, t, text, isBatch, messages }];
}

interface RecordContext {
  readonly record: number;
  readonly from: TraceSide;
  /** Requests without an answer yet, by sender and id. */
  readonly open: Map<string, RecordedMessage>;
}

function recordedMessage(value: Json, { record, from, open }: RecordContext): RecordedMessage {
  const { id, method } = value;
  const other = from === "client" ? "agent" : "client";
  if (typeof method === "string") {
    const kind = id === undefined ? "notification" : "request";
    const message = {
      record,
      kind,
      method,
      session: sessionOfMessage(value),
      value,
      answers: undefined,
    } as const;
    if (kind === "request") open.set(`${from} ${JSON.stringify(id)}`, message);
    return message;
  }
  const key = `${other} ${JSON.stringify(id)}`;
  const answers = open.get(key);
  open.delete(key);
  // an answer without a request, such as a parse error, is sent again but never awaited
  const kind = answers === undefined ? "unknown" : "response";
  return { record, kind, method: answers?.method, session: answers?.session, value, answers };
}

/** The session of a request or a notification. */
export function sessionOfMessage(value: Json): string | undefined {
  const { params } = value;
  return isObject(params) && typeof params.sessionId === "string" ? params.sessionId : undefined;
}

/** The parts of a message that its beginning shows. */
function headOf(text: string): Json {
  const { id, method, answers } = readEnvelopeHead(text);
  const session = /"sessionId"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return optional({
    id: typeof id === "bigint" ? Number(id) : id,
    method,
    result: answers ? {} : undefined,
    params: session === undefined ? undefined : { sessionId: parseJson(session) },
  });
}

function missing(record: number, why: string): TraceError {
  return new TraceError(`this trace cannot be replayed: record ${record}: ${why}`, record + 1);
}
