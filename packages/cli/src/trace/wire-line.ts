// Formats a JSON-RPC message as one line for people.

import { isObject, optional } from "@parley/acp/jsonrpc";
import type { Paint, Role } from "../terminal/paint.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export interface WireLineOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** Shown after the method. */
  readonly note?: string;
}

const fewestColumns = 60;
/** A shorter summary would say nothing. */
const fewestDetails = 10;

const roles: Partial<Record<WireFacts["kind"], Role>> = {
  request: "accent",
  answer: "success",
  error: "error",
  "not JSON": "error",
};

export function wireLine(
  { from, t, text = "" }: WireText,
  { facts, value }: WireMessage,
  { columns, paint, note = "" }: WireLineOptions,
): string {
  const head = `${t.toFixed(0).padStart(5)} ms  ${from === "client" ? "client → agent" : "client ← agent"}  `;
  const most = Math.max(fewestColumns, columns) - head.length;
  const label = `${cut(escapedLine(labelOf(facts)), Math.max(10, most - note.length))}${note}`;
  const room = most - label.length - 2;
  const details = room < fewestDetails ? "" : cut(escapedLine(detailsOf(facts, value, text)), room);
  const role = roles[facts.kind];
  return `${paint("dim", head)}${role === undefined ? label : paint(role, label)}  ${details}`.trimEnd();
}

function labelOf({ kind, method, id }: WireFacts): string {
  const request = method === undefined ? "nobody's request" : `${method} #${String(id)}`;
  if (kind === "request") return request;
  if (kind === "notification") return method ?? "";
  if (kind === "answer") return `answer to ${request}`;
  return kind === "error" ? `error for ${request}` : kind;
}

function detailsOf({ kind }: WireFacts, value: WireMessage["value"], text: string): string {
  if (kind === "batch" || kind === "not JSON") return text;
  if (kind === "answer") return summary(value["result"]);
  if (kind !== "error") return summary(value["params"]);
  const { code, message } = isObject(value["error"]) ? value["error"] : {};
  return `${String(code)} ${String(message)}`;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** `key: value` for every field. A session update begins with its kind, without its session. */
function summary(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  const { update, type, data } = value as { update?: unknown; type?: unknown; data?: unknown };
  // the dialect scoped has the fields of an update in `data`
  if (typeof type === "string" && isObject(data)) return [type, fields(data)].filter(Boolean).join(", ");
  if (typeof update !== "object" || update === null) return fields(value);
  // the dialect pharo calls it `type`
  return fields(update, "sessionUpdate" in update ? "sessionUpdate" : "type");
}

/** The value of the field `kind` is shown without its name. */
function fields(value: object, kind?: string): string {
  return Object.entries(value)
    .map(([key, item]) => (key === kind ? String(item) : `${key}: ${brief(item)}`))
    .join(", ");
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(brief).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const { type, text, content, status, priority } = value as Record<string, unknown>;
  if (type === "text" && typeof text === "string") return JSON.stringify(text);
  if (type === "content") return brief(content);
  if (priority !== undefined && typeof content === "string") return `${content} (${String(status)})`;
  return `{${fields(value)}}`;
}

export interface WireText {
  readonly from: "client" | "agent";
  /** Milliseconds since the start. */
  readonly t: number;
  readonly text?: string | undefined;
}

export interface WireFacts {
  readonly kind: "request" | "notification" | "answer" | "error" | "batch" | "not JSON";
  readonly method?: string;
  readonly id?: unknown;
  readonly session?: string;
  /** The time since the request, for an answer. */
  readonly latencyMs?: number;
}

export interface WireMessage {
  readonly facts: WireFacts;
  /** The parsed message; empty for a batch or what is not JSON. */
  readonly value: Readonly<Record<string, unknown>>;
}

export class WireReader {
  readonly #open = new Map<
    string,
    { readonly method: string; readonly t: number; readonly session: string | undefined }
  >();

  read({ from, t, text = "" }: WireText): WireMessage {
    const value = parse(text);
    if (!isObject(value)) return { facts: { kind: Array.isArray(value) ? "batch" : "not JSON" }, value: {} };
    const { id, method } = value;
    if (typeof method === "string") {
      const session = sessionOf(value["params"]);
      const isRequest = id !== undefined;
      if (isRequest) this.#open.set(`${from} ${JSON.stringify(id)}`, { method, t, session });
      return {
        facts: { kind: isRequest ? "request" : "notification", method, ...optional({ id, session }) },
        value,
      };
    }
    const key = `${from === "client" ? "agent" : "client"} ${JSON.stringify(id)}`;
    const request = this.#open.get(key);
    this.#open.delete(key);
    const kind = value["error"] === undefined ? "answer" : "error";
    if (request === undefined) return { facts: { kind, id }, value };
    const latencyMs = Number((t - request.t).toFixed(3));
    const { session } = request;
    return { facts: { kind, method: request.method, id, ...optional({ session }), latencyMs }, value };
  }
}

function sessionOf(params: unknown): string | undefined {
  const session = isObject(params) ? params["sessionId"] : undefined;
  return typeof session === "string" ? session : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
