// Carries the messages of one connection: checks those of the peer, remembers who waits for which answer, and gathers
// what each message leads to.

import { RequestError } from "../../jsonrpc/errors.ts";
import {
  type BoundMethod,
  bindMethod,
  decodeParams,
  decodeResult,
  describeFailure,
  Failure,
} from "../../wire/decode.ts";
import { methods } from "../../wire/scoped/methods.gen.ts";
import type { DialectMessage, DialectOptions, Step } from "../dialect.ts";
import { type ErrorObject, errorFromScoped, errorToScoped } from "./errors.ts";

export type Id = DialectMessage["id"];
export type Answer = { readonly result: unknown } | { readonly error: ErrorObject };

/** What one side of the dialect makes of messages. A RequestError that a request throws is its answer. */
export interface Side {
  /** A request of the peer, checked. */
  peerRequest(method: string, params: object, id: Id): void;
  /** A notification of the peer, checked. */
  peerNotification(method: string, params: object): void;
  /** A request of our side, in the shapes of version 1. */
  ourRequest(method: string, params: object, id: Id): void;
  ourNotification(method: string, params: object): void;
}

interface Waiting {
  readonly method: string;
  readonly answered: (answer: Answer) => void;
}

const wire = { nulls: "removed", extras: "moved" } as const;
const requests = rows("request");
const notifications = rows("notification");

function rows(kind: "request" | "notification"): ReadonlyMap<string, BoundMethod> {
  const own = methods.filter((row) => row.kind === kind);
  return new Map(own.map((row) => [row.method, bindMethod(row, [], wire)]));
}

export class Exchange {
  readonly #role: "agent" | "client";
  readonly #options: DialectOptions;
  #side: Side | undefined;
  #toUs: DialectMessage[] = [];
  #toPeer: DialectMessage[] = [];
  /** Requests that our side is asked, and those that the peer is asked. */
  readonly #us = new Map<Id, Waiting>();
  readonly #peer = new Map<Id, Waiting>();
  #ids = 0;

  /** `role`: that of our side. */
  constructor(role: "agent" | "client", options: DialectOptions) {
    this.#role = role;
    this.#options = options;
  }

  serve(side: Side): void {
    this.#side = side;
  }

  get now(): number {
    return this.#options.clock.now();
  }

  lost(what: string): void {
    this.#options.lost(what);
  }

  /** Runs work later; what it sends is sent then. */
  after(ms: number, work: () => void): () => void {
    return this.#options.clock.after(ms, () => this.#step(work));
  }

  receive(message: DialectMessage): Step {
    return this.#step(() => {
      const { method, id } = message;
      if (method === undefined) this.#peerAnswered(message);
      else if (id === undefined) this.#peerNotified(method, message);
      else this.#peerAsked(method, id, message);
    });
  }

  send(message: DialectMessage): Step {
    return this.#step(() => {
      const { method, id, params } = message;
      if (method === undefined) return this.#weAnswered(message);
      if (isPassed(method)) return this.#pass(message, this.#toPeer, this.#peer);
      if (id === undefined) return this.#side?.ourNotification(method, objectOf(params));
      this.#attempt(
        () => this.#side?.ourRequest(method, objectOf(params), id),
        (error) => this.answerUs(id, { error }),
      );
    });
  }

  /** Asks our side with the id of the peer's request, so that it can be taken back; or with an id of our own. */
  askUs(method: string, params: object, answered: (answer: Answer) => void, id: Id = this.#ownId()): void {
    this.#us.set(id, { method, answered });
    this.#toUs.push({ jsonrpc: "2.0", id, method, params });
  }

  askPeer(method: string, params: object, answered: (answer: Answer) => void, id: Id = this.#ownId()): void {
    this.#peer.set(id, { method, answered });
    this.#toPeer.push({ jsonrpc: "2.0", id, method, params });
  }

  /** Passes the peer's request on. `translate` makes the answer; undefined: it is answered later. */
  forwardToUs(id: Id, call: [method: string, params: object], translate: (result: object) => unknown): void {
    const answered = (answer: Answer): void => {
      if ("error" in answer) return this.answerPeer(id, answer);
      this.#attempt(
        () => {
          const result = translate(objectOf(answer.result));
          if (result !== undefined) this.answerPeer(id, { result });
        },
        (error) => this.answerPeer(id, { error }),
      );
    };
    this.askUs(...call, answered, id);
  }

  /** The same for a request of our side. */
  forwardToPeer(
    id: Id,
    call: [method: string, params: object],
    translate: (result: object) => unknown,
  ): void {
    const answered = (answer: Answer): void => {
      if ("error" in answer) return this.answerUs(id, answer);
      this.#attempt(
        () => {
          const result = translate(objectOf(answer.result));
          if (result !== undefined) this.answerUs(id, { result });
        },
        (error) => this.answerUs(id, { error }),
      );
    };
    this.askPeer(...call, answered, id);
  }

  /** Errors have the numbers of version 1. */
  answerPeer(id: Id, answer: Answer): void {
    const said = "error" in answer ? { error: errorToScoped(answer.error, false) } : answer;
    this.#toPeer.push({ jsonrpc: "2.0", id: id ?? null, ...said });
  }

  answerUs(id: Id, answer: Answer): void {
    this.#toUs.push({ jsonrpc: "2.0", id: id ?? null, ...answer });
  }

  notifyUs(method: string, params: object): void {
    this.#toUs.push({ jsonrpc: "2.0", method, params });
  }

  notifyPeer(method: string, params: object): void {
    this.#toPeer.push({ jsonrpc: "2.0", method, params });
  }

  #ownId(): string {
    this.#ids += 1;
    return `parley:${this.#ids}`;
  }

  #step(work: () => void): Step {
    this.#toUs = [];
    this.#toPeer = [];
    work();
    return { toUs: this.#toUs, toPeer: this.#toPeer };
  }

  #attempt(work: () => void, refuse: (error: ErrorObject) => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { code, message, data } = error;
      refuse({ code, message, ...(data === undefined ? {} : { data }) });
    }
  }

  #peerAsked(method: string, id: Id, message: DialectMessage): void {
    if (isPassed(method)) return this.#pass(message, this.#toUs, this.#us);
    const refuse = (error: ErrorObject) => this.answerPeer(id, { error });
    const bound = requests.get(method);
    if (bound === undefined || !this.#isOurs(bound)) {
      const { code, message: text, data } = RequestError.methodNotFound(method);
      const missing = { code, message: `${text}: ${method.slice(0, 200)}`, data };
      this.#toPeer.push({ jsonrpc: "2.0", id: id ?? null, error: errorToScoped(missing, true) });
      return;
    }
    const params = decodeParams(bound, message.params);
    if (params instanceof Failure) return refuse(invalid(method, "params", params));
    this.#attempt(() => this.#side?.peerRequest(method, objectOf(params), id), refuse);
  }

  #peerNotified(method: string, message: DialectMessage): void {
    if (isPassed(method)) return void this.#toUs.push(message);
    const bound = notifications.get(method) ?? requests.get(method);
    if (bound === undefined || !this.#isOurs(bound))
      return this.lost(`the notification ${method.slice(0, 200)}, which is not known here`);
    const params = decodeParams(bound, message.params);
    if (params instanceof Failure)
      return this.lost(`a notification that is not valid: ${describeFailure(method, "params", params)}`);
    this.#attempt(
      () => this.#side?.peerNotification(method, objectOf(params)),
      (error) => this.lost(`the notification ${method}: ${error.message}`),
    );
  }

  #peerAnswered(message: DialectMessage): void {
    const { id } = message;
    const waiting = this.#peer.get(id);
    if (waiting === undefined) return void this.#toUs.push(message);
    this.#peer.delete(id);
    const { method, answered } = waiting;
    if (message.error !== undefined) return answered({ error: errorFromScoped(message.error) });
    const bound = requests.get(method);
    if (bound === undefined) return answered({ result: message.result });
    const result = decodeResult(bound, message.result);
    answered(result instanceof Failure ? { error: invalid(method, "result", result) } : { result });
  }

  #weAnswered(message: DialectMessage): void {
    const { id, error } = message;
    const waiting = this.#us.get(id);
    if (waiting === undefined) {
      const said = error === undefined ? message : { ...message, error: errorToScoped(error, true) };
      return void this.#toPeer.push(said);
    }
    this.#us.delete(id);
    waiting.answered(error === undefined ? { result: message.result ?? {} } : { error });
  }

  /** Messages outside the document pass as they are (Q6). Only the numbers of errors change. */
  #pass(message: DialectMessage, to: DialectMessage[], waiting: Map<Id, Waiting>): void {
    to.push(message);
    const { id, method = "" } = message;
    if (id === undefined) return;
    const isOurs = waiting === this.#us;
    const answered = (answer: Answer): void => {
      const back = isOurs ? this.#toPeer : this.#toUs;
      const error = "error" in answer ? answer.error : undefined;
      const said = error === undefined ? answer : { error: isOurs ? errorToScoped(error, true) : error };
      back.push({ jsonrpc: "2.0", id, ...said });
    };
    waiting.set(id, { method, answered });
  }

  #isOurs({ row }: BoundMethod): boolean {
    return row.receiver === this.#role || row.receiver === "both";
  }
}

/** `$/cancel_request` and methods of others. */
function isPassed(method: string): boolean {
  return method.startsWith("_") || method.startsWith("$/");
}

/** The same words as for the versions of the protocol. An answer that is not valid is our side's to report. */
function invalid(method: string, where: "params" | "result", failure: Failure): ErrorObject {
  const kind = where === "result" ? "internal_error" : failure.limit ? "limit_exceeded" : "invalid_params";
  const path = failure.path.length > 200 ? `${failure.path.slice(0, 200)}…` : failure.path;
  failure.path = path;
  const { code, message, data } = new RequestError(kind, describeFailure(method, where, failure), {
    data: { reason: kind, path },
  });
  return { code, message, data };
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
