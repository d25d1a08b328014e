// Formats a JSON-RPC message as one line for people.

import { isObject } from "@parley/acp/internal";
import type { Colour, Paint } from "../terminal/paint.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import type { WireFacts, WireMessage, WireText } from "./wire-reader.ts";

export interface WireLineOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** Shown after the method. */
  readonly note?: string;
}

const fewestColumns = 60;
/** A shorter summary would say nothing. */
const fewestDetails = 10;

const colours: Partial<Record<WireFacts["kind"], Colour>> = {
  request: "cyan",
  answer: "green",
  error: "red",
  "not JSON": "red",
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
  const colour = colours[facts.kind];
  return `${paint("dim", head)}${colour === undefined ? label : paint(colour, label)}  ${details}`.trimEnd();
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
  const { update } = value as { update?: unknown };
  return fields(typeof update === "object" && update !== null ? update : value);
}

function fields(value: object): string {
  return Object.entries(value)
    .map(([key, item]) => (key === "sessionUpdate" ? String(item) : `${key}: ${brief(item)}`))
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
