// Reads the JSON-RPC messages of a trace and matches responses to their requests.

import { isObject, optional } from "@parley/acp/internal";

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
  /** Of an answer: the time since its request. */
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
