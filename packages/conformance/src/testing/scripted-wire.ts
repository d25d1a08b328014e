// A transport wrapper that changes messages as a scenario says, so that the library itself needs no faulty code.

import { isObject } from "@parley/acp/jsonrpc";
import type { EndReason, Sink, Transport } from "@parley/acp/transport";

interface Asked {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly rule: ReplyRule | undefined;
}

/** Receives the events of a scripted wire. */
export interface WireWatcher {
  /** Called when a request arrives. */
  asked?(method: string, params: Readonly<Record<string, unknown>>, id: unknown): void;
  /** Called when an answer has been sent. */
  answered?(method: string, params: Readonly<Record<string, unknown>>, result: unknown): void;
  /** Called when a session/update has been sent. */
  updated?(params: Readonly<Record<string, unknown>>): void;
  /** Called at the end of input. */
  ended?(): void;
}

/** Controls the process of a peer. */
export interface ProcessControl {
  /** Ends the process after everything that was sent. */
  exit(crash: Crash): void;
  /** Keeps the process alive after the end of input. */
  linger(): void;
}

type Message = Readonly<Record<string, unknown>>;

export class ScriptedWire implements Transport {
  readonly #transport: Transport;
  readonly #rules: WireRules;
  readonly #watcher: WireWatcher;
  readonly #process: ProcessControl | undefined;
  readonly #asked = new Map<unknown, Asked>();
  readonly #counts = new Map<string, number>();
  readonly #calls = new Map<unknown, (answer: unknown) => void>();
  #sink: Sink | undefined;
  #callCount = 0;
  #isSilent = false;
  #isOver = false;

  constructor(
    transport: Transport,
    rules: WireRules | undefined,
    watcher: WireWatcher,
    process?: ProcessControl,
  ) {
    this.#transport = transport;
    this.#rules = rules ?? {};
    this.#watcher = watcher;
    this.#process = process;
  }

  /** Sends anything. */
  raw(message: RawMessage, values: Values): void {
    this.#write(filled(message, values));
  }

  /** Sends a request without the library, and returns its result or error. */
  call(
    request: { readonly method: string; readonly params?: unknown; readonly id?: string | number },
    values: Values,
  ): Promise<unknown> {
    const { id = `raw-${++this.#callCount}`, method, params = {} } = request;
    const answer = new Promise((resolve) => this.#calls.set(id, resolve));
    this.raw({ jsonrpc: "2.0", id, method, params }, values);
    return answer;
  }

  /** Stops reading and writing, without closing. */
  fallSilent(): void {
    this.#isSilent = true;
    this.#process?.linger();
  }

  async crash(crash: Crash): Promise<void> {
    if (this.#process !== undefined) return this.#process.exit(crash);
    if (crash.half !== undefined) this.#write(crash.half);
    await this.cut();
  }

  /** Ends both directions at once, like a crash. */
  async cut(): Promise<void> {
    this.#end({ kind: "closed", message: "the scenario says that this peer dies here" });
    await this.#transport.close();
  }

  // ---- Transport

  start(sink: Sink): void {
    this.#sink = sink;
    this.#transport.start({
      message: (value, text) => this.#receive(value, text),
      idle: () => this.#sink?.idle(),
      reject: (fault) => {
        const rule = this.#rules.inputs?.find(({ when }) => when === "broken");
        if (rule === undefined) this.#sink?.reject(fault);
        else this.#react(rule);
      },
      drain: () => this.#sink?.drain(),
      end: (reason) => this.#end(reason),
    });
    for (const message of this.#rules.greeting ?? []) this.raw(message, {});
  }

  send(message: object, text?: string): boolean {
    if (this.#isSilent) return true;
    // as: a connection sends objects and batches
    const sent = message as Message;
    if ("method" in sent) {
      const room = this.#sendCall(sent, text);
      if (sent.method === "session/update") this.#watcher.updated?.(paramsOf(sent));
      return room;
    }
    const asked = this.#asked.get(sent.id);
    if (asked === undefined) return this.#transport.send(message, text);
    this.#asked.delete(sent.id);
    if (asked.rule === undefined) {
      const room = this.#transport.send(message, text);
      this.#watcher.answered?.(asked.method, asked.params, sent.result);
      return room;
    }
    this.#answer(asked, sent);
    return true;
  }

  #sendCall(message: Message, text: string | undefined): boolean {
    const { sends } = this.#rules;
    if (sends === undefined) return this.#transport.send(message, text);
    const rule = this.#matching(sends, `out ${String(message.method)}`, String(message.method));
    if (rule === undefined) return this.#transport.send(message, text);
    return this.#transport.send({ ...message, params: merged(message.params, rule.patch) });
  }

  pause(): void {
    this.#transport.pause();
  }

  resume(): void {
    this.#transport.resume();
  }

  async close(reason?: Error): Promise<void> {
    this.#over();
    if (!this.#isSilent) await this.#transport.close(reason);
  }

  // ----

  #receive(value: unknown, text: string): void {
    if (this.#isSilent) return;
    const input = this.#rules.inputs?.find(({ when }) => fits(when, value, text));
    if (input !== undefined) return this.#react(input);
    // as: all fields are unknown
    const message = (typeof value === "object" && value !== null ? value : {}) as Message;
    const { id, method } = message;
    if (typeof method !== "string") {
      const settle = this.#calls.get(id);
      if (settle === undefined) return this.#sink?.message(value, text);
      this.#calls.delete(id);
      return settle("error" in message ? { error: message.error } : message.result);
    }
    if (!("id" in message)) return this.#sink?.message(value, text);
    const asked = {
      method,
      params: paramsOf(message),
      rule: this.#matching(this.#rules.replies ?? [], method, method),
    };
    const { rule } = asked;
    this.#watcher.asked?.(method, asked.params, id);
    if (rule?.error !== undefined) return this.#answer(asked, { jsonrpc: "2.0", id, error: rule.error });
    if (rule?.result !== undefined) return this.#answer(asked, { jsonrpc: "2.0", id, result: rule.result });
    this.#asked.set(id, asked);
    this.#sink?.message(value, text);
  }

  #matching<Rule extends { readonly method: string; readonly nth?: number }>(
    rules: readonly Rule[],
    counter: string,
    method: string,
  ): Rule | undefined {
    const count = (this.#counts.get(counter) ?? 0) + 1;
    this.#counts.set(counter, count);
    return rules.find((rule) => rule.method === method && (rule.nth ?? count) === count);
  }

  #react({ write = [], crash }: InputRule): void {
    for (const message of write) this.raw(message, {});
    // nobody awaits a crash
    if (crash !== undefined) this.crash(crash).catch(() => undefined);
  }

  #answer({ method, params, rule = { method } }: Asked, given: Message): void {
    const answer: Message =
      rule.patch !== undefined && "result" in given
        ? { ...given, result: merged(given.result, rule.patch) }
        : given;
    // as: all fields are unknown
    const result = (answer.result ?? {}) as Message;
    const values = {
      id: answer.id,
      session: result.sessionId ?? params.sessionId,
      cwd: params.cwd,
    };
    for (const message of rule.before ?? []) this.raw(message, values);
    this.#write(filled(altered(answer, rule.answer), values));
    if (rule.answer === "twice") this.#write(filled(answer, values));
    for (const message of rule.after ?? []) this.raw(message, values);
    if (rule.answer !== "never") this.#watcher.answered?.(method, params, answer.result);
  }

  #write(message: RawMessage | undefined): void {
    if (this.#isSilent || message === undefined) return;
    if (typeof message === "string") this.#transport.send({}, message);
    else this.#transport.send(message);
  }

  #end(reason: EndReason): void {
    // a hanging peer ignores the end of input
    if (this.#isSilent && reason.kind === "eof") return;
    const sink = this.#sink;
    this.#over();
    sink?.end(reason);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink = undefined;
    for (const settle of this.#calls.values()) settle({ error: { message: "the connection has ended" } });
    this.#calls.clear();
    this.#watcher.ended?.();
  }
}

function fits(when: InputRule["when"], value: unknown, text: string): boolean {
  if (typeof when === "object") return text.includes(when.contains);
  return when === "batch" && Array.isArray(value);
}

function altered(answer: Message, how: ReplyRule["answer"]): Message | undefined {
  if (how === "never") return undefined;
  if (how === "text-id") return { ...answer, id: String(answer.id) };
  if (how !== "no-id") return answer;
  const { id: _, ...rest } = answer;
  return rest;
}

function paramsOf({ params }: Message): Message {
  // as: all fields are unknown
  return typeof params === "object" && params !== null ? (params as Message) : {};
}

/** JSON merge patch (RFC 7396). */
function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** A line as text, or an object that is sent as JSON. */
export type RawMessage = string | object;

/** A JSON-RPC error to answer with. */
export interface ScriptedError {
  /** The JSON-RPC error code. */
  readonly code: number;
  /** The message. */
  readonly message: string;
  /** Further data. Default: none. */
  readonly data?: unknown;
}

/** Changes the answers to requests of one method; without `nth`, to all of them. */
export interface ReplyRule {
  /** The method of the request. */
  readonly method: string;
  /** The number of the request among those of that method on a connection, from 1. Default: all. */
  readonly nth?: number;
  /** Sent before the answer. */
  readonly before?: readonly RawMessage[];
  /** Sent after the answer. */
  readonly after?: readonly RawMessage[];
  /** Answers with this error; the peer's own code is not called. */
  readonly error?: ScriptedError;
  /** Answers with this result; the peer's own code is not called. */
  readonly result?: unknown;
  /** Merged into the result: objects by key, null removes, everything else replaces. */
  readonly patch?: object;
  /** Answers never, twice, without an id, or with the id as text. */
  readonly answer?: "never" | "twice" | "no-id" | "text-id";
}

/** Changes outgoing requests and notifications of one method. */
export interface SendRule {
  /** The method of the message. */
  readonly method: string;
  /** The number of the message among those of that method on a connection, from 1. Default: all. */
  readonly nth?: number;
  /** Merged into the params. */
  readonly patch: object;
}

/** Reacts to input instead of the peer's own code. */
export interface InputRule {
  /** A batch, a line that is not JSON, or a message with this text. */
  readonly when: "batch" | "broken" | { readonly contains: string };
  /** Written in reply. */
  readonly write?: readonly RawMessage[];
  /** Crashes the peer afterwards. */
  readonly crash?: Crash;
}

/** How a peer crashes. */
export interface Crash {
  /** The exit code of the process. Default 1. */
  readonly exitCode?: number;
  /** The signal that ends the process, instead of an exit code. */
  readonly signal?: string;
  /** Written before, without a line end. */
  readonly half?: string;
}

/** The rules of one peer. */
export interface WireRules {
  /** Written first: banners, byte order marks, log lines. */
  readonly greeting?: readonly RawMessage[];
  /** Changes answers to requests. */
  readonly replies?: readonly ReplyRule[];
  /** Changes outgoing requests and notifications. */
  readonly sends?: readonly SendRule[];
  /** Reacts to input. */
  readonly inputs?: readonly InputRule[];
}

export type Values = Readonly<Record<string, unknown>>;

/** Copies the value with its placeholders filled in. Unknown ones stay. */
export function filled<Value>(value: Value, values: Values): Value {
  // as: the shape stays, except for strings that are one placeholder
  return fill(value, values) as Value;
}

function fill(value: unknown, values: Values): unknown {
  if (typeof value === "string") return value.includes("{{") ? fillText(value, values) : value;
  if (Array.isArray(value)) return value.map((item) => fill(item, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, values)]));
}

function fillText(text: string, values: Values): unknown {
  const whole = /^\{\{(\w+)\}\}$/.exec(text)?.[1];
  if (whole !== undefined && Object.hasOwn(values, whole)) return values[whole];
  return text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
    if (!Object.hasOwn(values, name)) return placeholder;
    const value = values[name];
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
