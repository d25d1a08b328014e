// A peer on a transport of its own, as a forwarder uses it.

import { type Deadline, deadline } from "../base/deadline.ts";
import { optional } from "../base/objects.ts";
import { Connection, outputOf } from "../jsonrpc/connection.ts";
import type { ConnectionOptions } from "../jsonrpc/connection-options.ts";
import { ConnectionError } from "../jsonrpc/errors.ts";
import type { IncomingRequest } from "../jsonrpc/incoming-request.ts";
import { type ForwardHooks, LateAnswer } from "../jsonrpc/passed-call.ts";
import type { EndReason, Lines, Sink, Transport } from "../jsonrpc/transport.ts";
import { Call } from "./call.ts";
import {
  goneError,
  type LineTaker,
  nobody,
  type Port,
  type Room,
  unusableAnswer,
  type WireError,
} from "./port.ts";
import { notificationHead, UnreadKind } from "./unread.ts";

/** How long a peer may stall unless something else is said, in milliseconds. */
export const defaultStallMs = 60_000;

export interface PeerOptions extends Pick<ConnectionOptions, "batches" | "limits" | "log" | "noise" | "tap"> {
  /** How the peer is called in errors. */
  readonly name: string;
  /** The notifications that may pass unread: those of this method. Default: none. */
  readonly unread?: string | undefined;
  /** Whether it stays open after the end of its input, until `close`. Default false. */
  readonly lingers?: boolean | undefined;
  /** How long requests of the peer may still be answered after the end of its input, in milliseconds. Default: until `close`. */
  readonly drainMs?: number | undefined;
  /** How long the peer may read nothing while output waits for it, in milliseconds. Default 60,000. */
  readonly stallMs?: number | undefined;
}

/** How the calls for one side of a peer are written on its wire. */
export interface Shape {
  method(call: Call): string;
  params(call: Call): unknown;
  notificationText(call: Call): string;
  requestText(call: Call, id: number): string;
  unreadLines(lines: Lines): Lines;
  cancel(connection: Connection, id: number): void;
}

const closing: WireError = { code: -32800, message: "cancelled: the connection is closing" };

const plain: Shape = {
  method: ({ method }) => method,
  params: ({ params }) => params,
  notificationText: (call) => call.notificationText(),
  requestText: (call, id) => call.requestText(id),
  unreadLines: (lines) => lines,
  cancel: (connection, id) => connection.cancel(id),
};

export class Peer {
  readonly connection: Connection;
  /** Resolves with the reason when the peer sends nothing more. */
  readonly ended: Promise<EndReason>;
  /** Sends to the peer. */
  readonly port: Port;
  /** Takes what the peer sends. */
  intake: Port = nobody;
  readonly #transport: Transport;
  readonly name: string;
  readonly #stallMs: number;
  readonly #batches: ConnectionOptions["batches"];
  readonly #unread: UnreadKind | undefined;
  /** Requests of the peer that wait, and what cancels them. */
  readonly #open = new Map<LateAnswer, () => void>();
  #isHeld = false;
  #stall: Deadline;

  constructor(
    transport: Transport,
    {
      name,
      unread,
      stallMs = defaultStallMs,
      drainMs = Number.POSITIVE_INFINITY,
      batches,
      limits,
      lingers,
      ...options
    }: PeerOptions,
  ) {
    this.#transport = transport;
    this.name = name;
    this.#stallMs = stallMs;
    this.#batches = batches;
    this.#unread = unread === undefined ? undefined : new UnreadKind(notificationHead(unread));
    const accepted = () => this.batches;
    const ended = Promise.withResolvers<EndReason>();
    this.ended = ended.promise;
    const given: ConnectionOptions & ForwardHooks = {
      ...optional(options),
      drainMs,
      // read at each array
      get batches() {
        return accepted();
      },
      // what came in has passed the limit of its sender: an envelope around it must not refuse it
      limits: { maxSentBytes: Number.POSITIVE_INFINITY, ...optional(limits ?? {}) },
      handlers: {
        request: (method, params, request, text) => this.request(new Call(method, params, text), request),
        notification: (method, params, text) => this.notification(new Call(method, params, text)),
      },
      ended: ended.resolve,
      lingers,
      ...(this.#unread && { unread: (lines, from, longest) => this.takesUnread(lines, from, longest) }),
    };
    this.connection = new Connection(transport, given);
    this.port = this.portOf(plain);
    // nobody waits for the answers any more
    void this.connection.closed.then(() => {
      for (const cancel of this.#open.values()) cancel();
    });
  }

  /** Whether the peer may send arrays of messages. */
  protected get batches(): ConnectionOptions["batches"] {
    return this.#batches;
  }

  protected portOf(shape: Shape): Port {
    const { connection } = this;
    const output = outputOf(connection);
    return {
      notify: (call) => {
        const message = { jsonrpc: "2.0", method: shape.method(call), params: shape.params(call) };
        return this.#watched(output.notify(message, shape.notificationText(call)));
      },
      request: (call, taker) => {
        const passed = {
          method: shape.method(call),
          params: shape.params(call),
          text: (id: number) => shape.requestText(call, id),
        };
        const id = connection.pass(passed, {
          answered: taker,
          failed: (error) => taker({ error: this.lost(error) }),
        });
        void this.#watched(connection.room);
        return () => {
          if (id !== undefined) shape.cancel(connection, id);
        };
      },
      unread: () => {
        const pass = output.passLines;
        return pass && ((lines) => this.#watched(pass(shape.unreadLines(lines))));
      },
    };
  }

  protected request(call: Call, request: IncomingRequest): unknown {
    return this.pass(call, request, this.intake);
  }

  protected notification(call: Call): undefined {
    this.hold(this.intake.notify(call));
  }

  /** Passes notifications of the peer on as text. Returns where the first line begins that must be read. */
  protected takesUnread(...offered: Parameters<NonNullable<Sink["unread"]>>): number {
    return this.#unread === undefined
      ? offered[1]
      : this.passUnread(this.#unread, this.intake.unread(), ...offered);
  }

  /** `take` was asked for first: what is found and not taken would be found again behind the next line. */
  protected passUnread(
    kind: UnreadKind,
    take: LineTaker | undefined,
    ...[lines, from, longest]: Parameters<NonNullable<Sink["unread"]>>
  ): number {
    const found = take && kind.first(lines, from, longest);
    if (found === undefined) return from;
    this.hold(take?.(found));
    return from + found.text.length;
  }

  /** Passes a request of the peer on. */
  protected pass(call: Call, request: IncomingRequest, to: Port): LateAnswer {
    return new LateAnswer((late) => {
      try {
        this.#pass(late, call, request, to);
      } catch (error) {
        late.give({
          error: { code: -32603, message: error instanceof Error ? error.message : String(error) },
        });
      }
    });
  }

  #pass(late: LateAnswer, call: Call, request: IncomingRequest, to: Port): void {
    let passed: (() => void) | undefined = to.request(call, (answer, text) => {
      this.#open.delete(late);
      late.give(answer, text);
    });
    if (late.isGiven) return;
    const cancel = (): void => {
      passed?.();
      passed = undefined;
    };
    this.#open.set(late, cancel);
    const { signal } = request;
    const aborted = (): void => {
      // a peer that has only ended its output may still want the answer
      if (!(signal.reason instanceof ConnectionError && signal.reason.kind === "closed")) cancel();
    };
    signal.addEventListener("abort", aborted, { once: true });
  }

  /** The error for whoever waits for an answer of this peer. */
  protected lost(error: Error): WireError {
    return this.connection.isOpen ? unusableAnswer(this.name, error) : goneError(this.name, error);
  }

  /** Closes the connection. Whoever waits for an answer gets this error. */
  async close(reason?: string, error: WireError = closing): Promise<void> {
    for (const [late, cancel] of [...this.#open]) {
      late.give({ error });
      cancel();
    }
    await this.connection.close(reason);
  }

  /** Reads nothing more until there is room for it. */
  protected hold(room: Room): void {
    if (room === undefined) return;
    // each time: the connection may have read on to get an answer
    this.#transport.pause();
    if (this.#isHeld) return;
    this.#isHeld = true;
    void room.then(() => {
      this.#isHeld = false;
      this.#transport.resume();
    });
  }

  /** Ends a peer that does not read. */
  #watched(room: Room): Room {
    if (room === undefined || this.#stall !== undefined) return room;
    const late = (): void => void this.connection.close(`it has read nothing for ${this.#stallMs} ms`);
    this.#stall = deadline(this.#stallMs, late);
    void room.then(() => {
      clearTimeout(this.#stall);
      this.#stall = undefined;
    });
    return room;
  }
}
