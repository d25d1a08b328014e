// Asks an MCP server of the same process: a transport without bytes, and the requests that are open on it.

import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import { McpFailure } from "@parley/acp";
import { isObject } from "@parley/acp/jsonrpc";
import type { McpParams } from "@parley/acp/model";
import { subscriptionKey } from "../revisions/claims.ts";

/** A request on a lane. */
export interface LaneCall {
  readonly method: string;
  readonly params: McpParams | undefined;
  readonly signal: AbortSignal;
  /** How the caller names the request. Subscriptions are named after it. */
  readonly requestId?: string | number | undefined;
  notify(method: string, params?: McpParams): void;
}

interface OpenCall {
  readonly call: LaneCall;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** One connected server. */
export class Lane {
  /** What the server is connected to. */
  readonly transport: Transport;
  readonly #open = new Map<number, OpenCall>();
  readonly #told: ((method: string, params: McpParams | undefined) => void) | undefined;
  #nextId = 1;
  #isClosed = false;

  /** `told`: what the server says that belongs to no request. */
  constructor(told?: (method: string, params: McpParams | undefined) => void) {
    this.#told = told;
    this.transport = {
      start: () => Promise.resolve(),
      send: async (message, options) => this.#sent(message, options),
      close: async () => this.#closed(),
    };
  }

  /** Rejects with an McpFailure (the server's answer), with the signal's reason, or with an Error if the server is closed. */
  request(call: LaneCall): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error("the MCP server is closed"));
    const { method, params, signal } = call;
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#open.delete(id);
        reject(signal.reason);
        this.notify("notifications/cancelled", { requestId: id, reason: "the caller cancelled" });
      };
      const over = () => signal.removeEventListener("abort", cancel);
      signal.addEventListener("abort", cancel, { once: true });
      this.#open.set(id, {
        call,
        resolve(result) {
          over();
          resolve(result);
        },
        reject(error) {
          over();
          reject(error);
        },
      });
      this.#deliver({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) });
    });
  }

  /** Sends the server a notification. */
  notify(method: string, params?: McpParams): void {
    this.#deliver({ jsonrpc: "2.0", method, ...(params !== undefined && { params }) });
  }

  #deliver(message: object): void {
    // as: built above, and the server validates it
    if (!this.#isClosed) this.transport.onmessage?.(message as JSONRPCMessage);
  }

  #sent(message: JSONRPCMessage, options: TransportSendOptions | undefined): void {
    if (!("method" in message)) {
      const open = this.#open.get(Number(message.id));
      this.#open.delete(Number(message.id));
      // a cancelled request is answered by nobody
      if (open === undefined) return;
      if ("result" in message) open.resolve(renamed(message.result, Number(message.id), open.call));
      else open.reject(new McpFailure(message.error));
      return;
    }
    if ("id" in message) {
      const reason = `${message.method}: nobody can answer requests of this server; return input_required instead`;
      this.#deliver({ jsonrpc: "2.0", id: message.id, error: { code: -32_601, message: reason } });
      return;
    }
    const id = Number(options?.relatedRequestId ?? subscriptionOf(message.params));
    const call = this.#open.get(id)?.call;
    // as: notifications have an object or nothing
    if (call !== undefined)
      return call.notify(message.method, renamed(message.params, id, call) as McpParams | undefined);
    this.#told?.(message.method, message.params as McpParams | undefined);
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { reject } of open) reject(new Error("the MCP server was closed"));
    this.transport.onclose?.();
  }
}

function subscriptionOf(params: unknown): unknown {
  const meta = isObject(params) ? params["_meta"] : undefined;
  return isObject(meta) ? meta[subscriptionKey] : undefined;
}

/** Names a subscription as the caller does. */
function renamed(value: unknown, id: number, { requestId }: LaneCall): unknown {
  if (requestId === undefined || String(subscriptionOf(value)) !== String(id)) return value;
  // as: it has a subscription in its _meta
  const { _meta, ...rest } = value as { _meta: object };
  return { ...rest, _meta: { ..._meta, [subscriptionKey]: requestId } };
}
