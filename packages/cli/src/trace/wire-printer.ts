// Shows JSON-RPC messages to a person, one line each, as they cross.

import { printable } from "../terminal/printable.ts";

export interface Crossing {
  readonly from: "client" | "agent";
  readonly text: string;
  /** Milliseconds since the first message. */
  readonly ms: number;
  /** Shown after the method. */
  readonly note?: string;
}

const ansi = {
  dim: "\u001b[2m",
  red: "\u001b[31m",
  green: "\u001b[32m",
  cyan: "\u001b[36m",
  off: "\u001b[0m",
};

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

/** Remembers which request an answer belongs to. */
export class WirePrinter {
  readonly #columns: number;
  readonly #colour: boolean;
  /** Methods of open requests, by who asked and the id. */
  readonly #open = new Map<string, string>();

  constructor(options: { readonly columns: number; readonly colour: boolean }) {
    this.#columns = Math.max(60, options.columns);
    this.#colour = options.colour;
  }

  line({ from, text, ms, note = "" }: Crossing): string {
    const arrow = from === "client" ? "client → agent" : "client ← agent";
    const { label: name, detail, mood } = this.#describe(from, text);
    const head = `${ms.toFixed(0).padStart(5)} ms  ${arrow}  `;
    const most = this.#columns - head.length;
    const label = `${cut(name, Math.max(10, most - note.length))}${note}`;
    const room = most - label.length - 2;
    // a few letters of it would say nothing
    const shown = room < 10 ? "" : cut(detail, room);
    return `${this.#paint("dim", head)}${this.#paint(mood, label)}  ${shown}`.trimEnd();
  }

  #describe(
    from: Crossing["from"],
    text: string,
  ): { label: string; detail: string; mood: keyof typeof ansi } {
    const message = parse(text);
    if (message === undefined) return { label: "not JSON", detail: printable(text), mood: "red" };
    const { id, method, params, result, error } = message;
    if (method !== undefined) {
      if (id !== undefined) this.#open.set(`${from} ${String(id)}`, method);
      const label = id === undefined ? method : `${method} #${String(id)}`;
      return { label: printable(label), detail: summary(params), mood: id === undefined ? "off" : "cyan" };
    }
    const asker = from === "client" ? "agent" : "client";
    const asked = this.#open.get(`${asker} ${String(id)}`);
    this.#open.delete(`${asker} ${String(id)}`);
    const to = asked === undefined ? "nobody's request" : `${asked} #${String(id)}`;
    if (error === undefined)
      return { label: printable(`answer to ${to}`), detail: summary(result), mood: "green" };
    const detail = printable(`${String(error.code)} ${String(error.message)}`);
    return { label: printable(`error for ${to}`), detail, mood: "red" };
  }

  #paint(colour: keyof typeof ansi, text: string): string {
    return this.#colour ? `${ansi[colour]}${text}${ansi.off}` : text;
  }
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // the caller shows the text as it is
    return undefined;
  }
}

/** `key: value` for every field. A session update leads with its kind, its session goes without saying. */
function summary(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  const { update } = value as { update?: unknown };
  return printable(fields(typeof update === "object" && update !== null ? update : value));
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
