// One MCP server of ours as one peer may use it: how many calls run at once, who may make them, and when it ends.

import { isObject } from "../../base/objects.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import { type McpCall, McpFailure, type McpProvider } from "../../model/mcp.ts";
import { Slots } from "../base/slots.ts";
import { bindingError } from "./mcp-wire.ts";

const maxRunning = 64;
const maxWaiting = 1_024;

/** A call of a tool, for whoever decides about it. */
export interface ToolUse {
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ServerUse {
  readonly log: Log;
  /** Whether the peer gets the message of what the server throws. */
  readonly exposesErrors: boolean;
  sessionId?(): string | undefined;
  /**
   * Decides about a call of a tool. Resolves with what to call right before it, which may still refuse. Refuses with
   * RequestError "permission_denied".
   */
  permit?(use: ToolUse, signal: AbortSignal): Promise<() => void>;
  /** The peer uses the server. `answer` settles with it. */
  used?(method: string, answer: Promise<unknown>): void;
}

/** Rejects with an McpFailure, which the server answered, or with a RequestError: one of the binding, or "cancelled". */
export class OfferedServer implements McpProvider {
  readonly name: string;
  readonly #provider: McpProvider;
  readonly #use: ServerUse;
  readonly #slots = new Slots(maxRunning, maxWaiting);
  readonly #ended = new AbortController();
  readonly #stops = new Set<AbortController>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(provider: McpProvider, use: ServerUse, name: string = provider.name) {
    this.name = name;
    this.#provider = provider;
    this.#use = use;
  }

  request(call: McpCall): Promise<unknown> {
    const answer = this.#answer(call);
    this.#running.add(answer);
    this.#use.used?.(call.method, answer);
    return answer.finally(() => this.#running.delete(answer));
  }

  /** Running calls abort, and later ones are refused. Resolves when the last one has ended. */
  async close(): Promise<void> {
    this.#ended.abort();
    for (const stop of this.#stops) stop.abort(this.#ended.signal.reason);
    await Promise.allSettled(this.#running);
  }

  async #answer(call: McpCall): Promise<unknown> {
    if (this.#slots.isFull) {
      const load = `${maxRunning} calls run and ${maxWaiting} wait`;
      throw bindingError("limit", `the MCP server ${this.name} is busy: ${load}; try again later`);
    }
    if (call.signal.aborted || this.#ended.signal.aborted) throw this.#stopped(call);
    // AbortSignal.any would cost more than the rest of a call: each of its signals is weakly held and finalised
    const stop = new AbortController();
    const { signal } = stop;
    const cancel = () => stop.abort(call.signal.reason);
    call.signal.addEventListener("abort", cancel, { once: true });
    this.#stops.add(stop);
    const turn = this.#slots.enter(signal);
    if (turn !== undefined && !(await turn)) throw this.#stopped(call);
    let isOver = false;
    try {
      const refusal = call.method === "tools/call" ? await this.#refused(call, signal) : undefined;
      if (refusal !== undefined) return refusal;
      return await this.#provider.request({
        ...call,
        sessionId: this.#use.sessionId?.(),
        signal,
        notify: (method, params) => {
          if (!isOver && !signal.aborted) call.notify(method, params);
        },
      });
    } catch (error) {
      if (error instanceof McpFailure) throw error;
      if (signal.aborted) throw this.#stopped(call);
      this.#use.log("error", "an MCP server failed", { server: this.name, method: call.method, error });
      const why = this.#use.exposesErrors && error instanceof Error ? error.message.slice(0, 500) : "";
      throw bindingError("failed", `the MCP server ${this.name} failed${why === "" ? "" : `: ${why}`}`);
    } finally {
      call.signal.removeEventListener("abort", cancel);
      this.#stops.delete(stop);
      isOver = true;
      this.#slots.leave();
    }
  }

  /** The result of a tool that may not run: its model reads it. Undefined where it may. */
  async #refused({ params }: McpCall, signal: AbortSignal): Promise<object | undefined> {
    if (this.#use.permit === undefined) return undefined;
    const { name: tool, arguments: given } = params ?? {};
    if (typeof tool !== "string")
      throw new McpFailure({ code: -32602, message: "tools/call: name must be the name of a tool" });
    const use = { server: this.name, tool, arguments: isObject(given) ? given : {} };
    try {
      (await this.#use.permit(use, signal))();
      return undefined;
    } catch (error) {
      if (!(error instanceof RequestError) || signal.aborted) throw error;
      return { content: [{ type: "text", text: error.message }], isError: true };
    }
  }

  #stopped({ signal }: McpCall): RequestError {
    if (!signal.aborted) return bindingError("unavailable", `the MCP server ${this.name} has ended`);
    return new RequestError("cancelled", "the call was cancelled", { data: { reason: "cancelled" } });
  }
}

/** Whether a tool of an app answers MCP itself, and needs no kit. */
export function isProvider(value: unknown): value is McpProvider {
  return isObject(value) && typeof value["name"] === "string" && typeof value["request"] === "function";
}
