// Wraps a transport so that our side speaks version 1, whichever dialect the peer speaks.

import { backgroundDeadline } from "../../base/deadline.ts";
import { isObject } from "../../base/objects.ts";
import {
  type Dialect,
  type DialectClock,
  type DialectMachine,
  type DialectMessage,
  type DialectOptions,
  type DialectStep,
  type DialectTransport,
  noStep,
} from "../../edition/dialect.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import { ConnectionError } from "../../jsonrpc/errors.ts";
import { exactId, idProblem, idToJson, isExact } from "../../jsonrpc/message-id.ts";
import type { Attachment, Sink, Transport } from "../../jsonrpc/transport.ts";
import { NotedLosses } from "./noted-losses.ts";

/** Answers a message that nobody here speaks. */
export interface Refusal {
  readonly answer: DialectMessage;
}

/** What a choice decides after a look at a message: the machine to use from this message on, or to go on as it came. */
export type DialectDecision = DialectMachine | Promise<DialectMachine> | undefined;

/** Chooses the dialect of a connection by its first messages. */
export interface DialectChoice {
  /** The dialect that was chosen; undefined while none is. */
  readonly dialect: Dialect | undefined;
  received(message: DialectMessage): DialectDecision | Refusal;
  sent(message: DialectMessage): DialectDecision;
  /** What a machine gets in place of a message of the peer. */
  instead?(message: DialectMessage): DialectMessage;
}

/** Makes the machine of a dialect for our side. */
export type LoadMachine = (dialect: Dialect) => Promise<DialectMachine>;

interface TranslatingTransportOptions {
  readonly role: "agent" | "client";
  readonly lost: DialectOptions["lost"];
  /** Given: messages tell what they lost, or are not sent. */
  readonly losses?: "lossy" | "strict" | undefined;
  readonly tap?: ConnectionOptions["tap"];
  choice(load: LoadMachine): DialectChoice;
}

export class TranslatingTransport implements DialectTransport {
  readonly #inner: Transport;
  readonly #tap: ConnectionOptions["tap"];
  readonly #choice: DialectChoice;
  readonly #lost: DialectOptions["lost"];
  readonly #timers = new Set<() => void>();
  #sink: Sink | undefined;
  #machine: DialectMachine | undefined;
  /** Exists while a dialect is being loaded: everything waits for it, in order. */
  #held: (() => void)[] | undefined;
  #isClosed = false;

  constructor(inner: Transport, { role, lost, losses, tap, choice }: TranslatingTransportOptions) {
    this.#inner = inner;
    this.#lost = lost;
    this.#tap = tap;
    const clock: DialectClock = {
      now: () => Date.now(),
      after: (ms, work) => this.#after(ms, work),
    };
    this.#choice = choice(async (dialect) => {
      const machines = await dialect.load();
      const make = (options: DialectOptions): DialectMachine =>
        role === "agent" ? machines.agentSide(options) : machines.clientSide(options);
      return losses === undefined
        ? make({ lost, clock })
        : new NotedLosses(make, { lost, clock, role, losses });
    });
  }

  /** The dialect that is spoken; undefined for version 1 or 2, and while it is not known. */
  get dialect(): Dialect | undefined {
    return this.#choice.dialect;
  }

  get attachment(): Attachment | undefined {
    return this.#inner.attachment;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#inner.start({
      message: (value, text) => {
        this.#tap?.("in", text);
        this.#inOrder(() => this.#received(value, text));
      },
      idle: () => sink.idle(),
      reject: (fault) => {
        this.#tap?.("in", fault.head, fault);
        this.#inOrder(() => sink.reject(fault));
      },
      drain: () => sink.drain(),
      end: (reason) => this.#inOrder(() => sink.end(reason)),
    });
  }

  send(message: object, text?: string): boolean {
    if (this.#held !== undefined) {
      this.#held.push(() => void this.#send(message, text));
      return true;
    }
    return this.#send(message, text);
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  endOutput(): void {
    this.#inOrder(() => this.#inner.endOutput?.());
  }

  close(reason?: Error): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#timers) stop();
    this.#timers.clear();
    return this.#inner.close(reason);
  }

  #inOrder(work: () => void): void {
    if (this.#held === undefined) work();
    else this.#held.push(work);
  }

  #received(value: unknown, text: string): void {
    if (Array.isArray(value) && this.#machine !== undefined) return this.#batch(value);
    if (!isMessage(value)) return this.#sink?.message(value, text);
    if (this.#machine === undefined) {
      const decision = this.#choice.received(value);
      if (decision !== undefined && "answer" in decision) return void this.#write(decision.answer);
      if (decision instanceof Promise) return this.#load(decision, () => this.#received(value, text));
      this.#machine = decision;
    }
    const machine = this.#machine;
    if (machine === undefined) return this.#sink?.message(value, text);
    const { id } = value;
    const exact = typeof id === "number" && !isExact(id) ? exactId(text, id) : undefined;
    this.#take(this.#translated(machine, value), id, exact);
  }

  /** A machine that fails over a message of the peer must not end the connection. */
  #translated(machine: DialectMachine, message: DialectMessage): DialectStep {
    try {
      return machine.receive(this.#choice.instead?.(message) ?? message);
    } catch (error) {
      this.#lost(`a message that could not be translated: ${String(error).slice(0, 200)}`);
      const { id, method } = message;
      if (id === undefined) return noStep;
      const failed = { code: errorCodes.internal_error, message: "the message could not be translated" };
      const answer: DialectMessage = { jsonrpc: "2.0", id, error: failed };
      return method === undefined ? { toUs: [answer], toPeer: [] } : { toUs: [], toPeer: [answer] };
    }
  }

  #send(message: object, text: string | undefined): boolean {
    if (this.#machine === undefined && isMessage(message)) {
      const decision = this.#choice.sent(message);
      if (decision instanceof Promise) {
        this.#load(decision, () => void this.#send(message, text));
        return true;
      }
      this.#machine = decision;
    }
    const machine = this.#machine;
    if (machine === undefined) {
      this.#tap?.("out", text ?? JSON.stringify(message));
      return this.#inner.send(message, text);
    }
    if (Array.isArray(message)) return this.#sendBatch(message);
    const { id } = message as DialectMessage; // what a connection sends
    // an integer that a number cannot hold
    const isRaw = typeof id === "object" && id !== null;
    const plain = isRaw ? { ...message, id: Number(JSON.stringify(id)) } : message;
    const { toUs, toPeer } = machine.send(plain as DialectMessage);
    const raw = isRaw ? (plain as { id: number }).id : undefined;
    let hasRoom = true;
    for (const each of toPeer) {
      const exact = raw !== undefined && each.id === raw ? { ...each, id } : each;
      hasRoom = this.#write(exact) && hasRoom;
    }
    this.#deliverSoon(toUs);
    return hasRoom;
  }

  /** What the machine made of a message. */
  #take({ toUs, toPeer }: DialectStep, id?: unknown, exact?: number | bigint): void {
    for (const each of toPeer) this.#write(each);
    if (exact === undefined) return this.#deliver(toUs);
    for (const each of toUs) {
      const same = each.id === id ? { ...each, id: idToJson(exact) } : each;
      this.#sink?.message(each, JSON.stringify(same));
    }
  }

  #deliver(messages: readonly DialectMessage[]): void {
    for (const each of messages) this.#sink?.message(each, JSON.stringify(each));
  }

  /** A machine may answer a request of ours itself: our side waits for the answer only after it has sent the request. */
  #deliverSoon(messages: readonly DialectMessage[]): void {
    if (messages.length > 0) queueMicrotask(() => this.#deliver(messages));
  }

  #write(message: object): boolean {
    if (this.#isClosed) return true;
    const text = JSON.stringify(message);
    this.#tap?.("out", text);
    return this.#inner.send(message, text);
  }

  /** A batch stays one: its entries are answered together. */
  #batch(entries: readonly unknown[]): void {
    const machine = this.#machine;
    const steps = entries.map((entry) =>
      isMessage(entry) && machine !== undefined
        ? this.#translated(machine, entry)
        : { toUs: [entry], toPeer: [] },
    );
    for (const each of steps.flatMap(({ toPeer }) => toPeer)) this.#write(each);
    const ours = steps.flatMap(({ toUs }): readonly unknown[] => toUs);
    if (ours.length > 0) this.#sink?.message(ours, JSON.stringify(ours));
  }

  #sendBatch(messages: readonly object[]): boolean {
    const steps = messages.map((each) => this.#machine?.send(each as DialectMessage) ?? noStep);
    const theirs = steps.flatMap(({ toPeer }) => toPeer);
    const hasRoom = theirs.length === 0 || this.#write(theirs);
    this.#deliverSoon(steps.flatMap(({ toUs }) => toUs));
    return hasRoom;
  }

  /** Loads a machine while everything else waits, and begins again with the message that asked for it. */
  #load(loading: Promise<DialectMachine>, again: () => void): void {
    const held: (() => void)[] = [again];
    this.#held = held;
    // what is sent meanwhile comes after what is held
    const release = (): void => {
      while (held.length > 0) {
        held.shift()?.();
        if (this.#held === held) continue;
        this.#held?.push(...held);
        return;
      }
      this.#held = undefined;
    };
    loading.then(
      (machine) => {
        this.#machine = machine;
        release();
      },
      (error: unknown) => {
        this.#held = undefined;
        const message = error instanceof Error ? error.message : String(error);
        const cause = error instanceof ConnectionError ? error : undefined;
        this.#sink?.end({ kind: "protocol", message, ...(cause && { cause }) });
      },
    );
  }

  #after(ms: number, work: () => DialectStep): () => void {
    const stop = (): void => {
      clearTimeout(timer);
      this.#timers.delete(stop);
    };
    const timer = backgroundDeadline(ms, () => {
      this.#timers.delete(stop);
      if (!this.#isClosed) this.#take(work());
    });
    this.#timers.add(stop);
    return stop;
  }
}

/** Whether a machine can look at it. The connection refuses what is neither a call nor an answer. */
function isMessage(value: unknown): value is DialectMessage {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method } = value;
  if (id !== undefined && idProblem(id, "any", Number.POSITIVE_INFINITY) !== undefined) return false;
  return method === undefined ? !("params" in value) : typeof method === "string";
}
