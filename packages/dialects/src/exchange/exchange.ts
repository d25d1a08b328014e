// The part of a machine that every dialect has: it checks the peer's messages, remembers who waits for which answer, and
// gives each message to the handler of its method.

import type { DialectMachine, DialectMessage, DialectOptions, DialectStep } from "@parley/acp/transport";
import {
  type BoundMethod,
  bindMethod,
  decodeParams,
  decodeResult,
  Failure,
  isObject,
  type MethodRow,
  optional,
} from "./library.ts";
import {
  type DialectError,
  failed,
  invalidParams,
  invalidRequest,
  invalidResult,
  methodNotFound,
} from "./refusals.ts";

export type Lost = DialectOptions["lost"];
export type Fields = Readonly<Record<string, unknown>>;
export type Side = "us" | "peer";
/** What a request was answered with: a result (null is an empty one), or an error in the numbers of version 1. */
export type Answer = { readonly result: Fields; readonly error?: never } | { readonly error: DialectError };

/** A request or notification that waits for its handler. */
export interface Call {
  readonly method: string;
  /** Passes it on in the shapes of the other side. `back` translates the result of the answer. */
  forward(params: object, back?: (result: Fields) => unknown): void;
  /** As `forward`, with all of the answer in the hands of `then`, which answers the call itself. */
  forwardThen(params: object, then: (answer: Answer) => void): void;
  answer(result: unknown): void;
  /** The error has the numbers of version 1. */
  refuse(error: DialectError): void;
  /** Takes back what was passed on: its answer no longer counts. */
  cancelForwarded(): void;
}

/** The params have been checked if they are the peer's. */
export type Handler = (params: Fields, call: Call) => void;
type Handlers = Readonly<Record<string, Handler>>;

interface ExchangeRules {
  readonly methods: readonly MethodRow[];
  /** The role of our side. */
  readonly role: "agent" | "client";
  /** Requests that the peer may send without an id: nobody reads their answers. */
  readonly withoutId: ReadonlySet<string>;
  /** An error of the peer, in the numbers of version 1. */
  errorToUs(error: DialectError, method: string, lost: Lost): DialectError;
  /** An error in the numbers of version 1, as the peer writes it. */
  errorToPeer(error: DialectError, method: string, lost: Lost): DialectError;
}

type Id = number | string | null;

interface Pending {
  readonly method: string;
  settle(answer: Answer, message: DialectMessage): void;
}

const other = (side: Side): Side => (side === "us" ? "peer" : "us");

/** Messages of the app's own, and those of JSON-RPC, mean the same everywhere. */
const passes = (method: string): boolean => method.startsWith("_") || method.startsWith("$/");

export class Exchange implements DialectMachine {
  readonly #rules: ExchangeRules;
  readonly #options: DialectOptions;
  readonly #received: ReadonlyMap<string, BoundMethod>;
  readonly #sent: ReadonlyMap<string, BoundMethod>;
  /** By the side whose messages they handle. */
  readonly #handlers = { us: new Map<string, Handler>(), peer: new Map<string, Handler>() };
  /** By the side that has to answer. */
  readonly #pending = { us: new Map<Id, Pending>(), peer: new Map<Id, Pending>() };
  #step: { toUs: DialectMessage[]; toPeer: DialectMessage[] } = { toUs: [], toPeer: [] };
  readonly #lostNow = new Set<string>();
  #ownIds = 0;

  constructor(rules: ExchangeRules, options: DialectOptions) {
    this.#rules = rules;
    this.#options = options;
    const bound = (isOurs: boolean) =>
      new Map(
        rules.methods
          .filter(({ receiver }) => (receiver === rules.role || receiver === "both") === isOurs)
          .map((row) => [row.method, bindMethod(row, [], { extras: "moved" })]),
      );
    this.#received = bound(true);
    this.#sent = bound(false);
  }

  /** Handles the requests and notifications of one side. Others are refused. */
  handle(from: Side, handlers: Handlers): void {
    for (const [method, handler] of Object.entries(handlers)) this.#handlers[from].set(method, handler);
  }

  receive(message: DialectMessage): DialectStep {
    return this.#run(() => this.#take("peer", message));
  }

  send(message: DialectMessage): DialectStep {
    return this.#run(() => this.#take("us", message));
  }

  /** Reports what one side cannot express, once for each message. */
  lost(what: string): void {
    if (this.#lostNow.has(what)) return;
    this.#lostNow.add(what);
    this.#options.lost(what);
  }

  /** Sends a request of the machine's own. */
  ask(to: Side, method: string, params: object, then: (answer: Answer) => void): void {
    let id: string;
    do id = `parley:${++this.#ownIds}`;
    while (this.#pending[to].has(id));
    this.#request(to, id, method, params, then);
  }

  notify(to: Side, method: string, params: object): void {
    this.#put(to, { jsonrpc: "2.0", method, params });
  }

  /** Runs the work after this time. The returned function takes it back. */
  later(ms: number, work: () => void): () => void {
    return this.#options.clock.after(ms, () => this.#run(work));
  }

  #run(work: () => void): DialectStep {
    const step: { toUs: DialectMessage[]; toPeer: DialectMessage[] } = { toUs: [], toPeer: [] };
    this.#step = step;
    this.#lostNow.clear();
    work();
    return step;
  }

  #put(to: Side, message: DialectMessage): void {
    (to === "us" ? this.#step.toUs : this.#step.toPeer).push(message);
  }

  #take(from: Side, message: DialectMessage): void {
    const { id, method } = message;
    if (method === undefined) {
      this.#settle(from, message);
      return;
    }
    if (id !== undefined && this.#pending[other(from)].has(id)) {
      // under the id null, because the first request still waits for its answer
      this.#put(from, failed(null, invalidRequest("the id is in use by a request that is still running")));
      return;
    }
    const handler = this.#handlers[from].get(method);
    if (handler === undefined && passes(method)) {
      this.#pass(from, message, method);
      return;
    }
    const call = this.#call(from, id, method);
    if (handler === undefined) this.#refuseUnknown(from, id, method);
    else if (from === "us") handler(isObject(message.params) ? message.params : {}, call);
    else this.#takeChecked(message, handler, call);
  }

  /** The number is the same everywhere: that of a method that is known and not supported may be another. */
  #refuseUnknown(from: Side, id: Id | undefined, method: string): void {
    if (from === "us") this.lost(`${method}: the peer's dialect has no such method`);
    else if (id === undefined) this.lost(`a notification that the dialect does not have: ${method}`);
    if (id !== undefined) this.#put(from, failed(id, methodNotFound(method)));
  }

  #takeChecked(message: DialectMessage, handler: Handler, call: Call): void {
    const bound = this.#received.get(call.method);
    // whoever handles a method of the peer has its row
    if (bound === undefined) throw new Error(`${call.method}: is not in the method table of the dialect`);
    const params = decodeParams(bound, message.params);
    if (params instanceof Failure) call.refuse(invalidParams(call.method, params));
    else if (
      bound.row.kind === "request" &&
      message.id === undefined &&
      !this.#rules.withoutId.has(call.method)
    )
      this.lost(`a request ${call.method} without an id, which nobody could answer`);
    else handler(params as Fields, call); // a validator of an object has passed it
  }

  #pass(from: Side, message: DialectMessage, method: string): void {
    const { id } = message;
    if (id !== undefined) {
      const settle = (answer: Answer, { result }: DialectMessage): void => {
        if (answer.error === undefined) this.#put(from, { jsonrpc: "2.0", id, result: result ?? null });
        else this.#put(from, failed(id, this.#errorTo(from, answer.error, method)));
      };
      this.#pending[other(from)].set(id, { method, settle });
    }
    this.#put(other(from), message);
  }

  #settle(from: Side, message: DialectMessage): void {
    const { id } = message;
    const pending = id === undefined ? undefined : this.#pending[from].get(id);
    if (id === undefined || pending === undefined) {
      // an answer to nothing: the other side knows what to do with it
      this.#put(other(from), message);
      return;
    }
    this.#pending[from].delete(id);
    pending.settle(this.#answer(from, message, pending.method), message);
  }

  #answer(from: Side, { result, error }: DialectMessage, method: string): Answer {
    const lost = (what: string): void => this.lost(what);
    if (error !== undefined)
      return { error: from === "us" ? error : this.#rules.errorToUs(error, method, lost) };
    const bound = from === "peer" ? this.#sent.get(method) : undefined;
    const checked = bound === undefined ? result : decodeResult(bound, result);
    if (checked instanceof Failure) return { error: invalidResult(method, checked) };
    return { result: isObject(checked) ? checked : {} };
  }

  #errorTo(to: Side, error: DialectError, method: string): DialectError {
    return to === "us" ? error : this.#rules.errorToPeer(error, method, (what) => this.lost(what));
  }

  #request(to: Side, id: Id, method: string, params: object, then: (answer: Answer) => void): void {
    this.#pending[to].set(id, { method, settle: then });
    this.#put(to, { jsonrpc: "2.0", id, method, params });
  }

  #call(from: Side, id: Id | undefined, method: string): Call {
    const to = other(from);
    const isRequest = (from === "peer" ? this.#received : this.#sent).get(method)?.row.kind === "request";
    const answer = (result: unknown): void => {
      if (id !== undefined) this.#put(from, { jsonrpc: "2.0", id, result });
    };
    const refuse = (error: DialectError): void => {
      if (id !== undefined) this.#put(from, failed(id, this.#errorTo(from, error, method)));
      else this.lost(`${method} was dropped: ${error.message}`);
    };
    const forwardThen = (params: object, then: (answer: Answer) => void): void => {
      if (id !== undefined) this.#request(to, id, method, params, then);
      else if (isRequest) this.ask(to, method, params, then);
      else this.notify(to, method, params);
    };
    return {
      method,
      answer,
      refuse,
      forwardThen,
      forward: (params, back = (result) => result) =>
        forwardThen(params, (given) => {
          if (given.error !== undefined) {
            refuse(given.error);
            return;
          }
          const result = back(given.result);
          // an answer that is null has no place for it
          if (result === null && metaField(given.result)._meta !== undefined)
            this.lost(`the metadata of the answer to ${method}`);
          answer(result);
        }),
      cancelForwarded: () => {
        if (id === undefined || !this.#pending[to].has(id)) return;
        this.#pending[to].set(id, { method, settle: () => {} });
        this.notify(to, "$/cancel_request", { requestId: id });
      },
    };
  }
}

/** `_meta` of an object, if it has any. */
export function metaField(value: object): { _meta?: Fields } {
  const { _meta: meta } = value as { _meta?: unknown }; // unknown as long as it is not looked at
  return optional({ _meta: isObject(meta) ? meta : undefined });
}
