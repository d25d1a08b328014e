// A peer that has a successor behind it, on the same connection: the conductor of a proxy, or the proxy of a conductor.

import { isObject } from "../../base/objects.ts";
import { Call } from "../../forward/call.ts";
import { Peer, type PeerOptions, type Shape } from "../../forward/peer.ts";
import { nobody, type Port } from "../../forward/port.ts";
import { type Ends, notificationHead, UnreadKind, withEnds } from "../../forward/unread.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import { cancelMethod } from "../../jsonrpc/inbound-requests.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import { memberText } from "../../jsonrpc/json-text.ts";
import type { Lines, Transport } from "../../jsonrpc/transport.ts";
import {
  currentGeneration,
  type Generation,
  generationOfInitialize,
  generationOfSuccessor,
  sacpSentence,
} from "./generations.ts";

const version = '{"jsonrpc":"2.0",';

/** What goes to the successor, and what comes from it. */
interface Successor {
  readonly port: Port;
  intake: Port;
}

export interface SuccessorPeerOptions extends Omit<PeerOptions, "batches" | "unread"> {
  readonly generation?: Generation | undefined;
}

export class SuccessorPeer extends Peer {
  readonly successor: Successor;
  /** How the peer writes envelopes. */
  generation: Generation;
  /** Called when it sends its own first message to its successor, before that is refused. */
  wrappedInitialize: (generation: Generation) => void = () => undefined;
  /** A client may send arrays; a conductor and a proxy of the current generation may not. */
  isClient = false;
  readonly #log: Log;
  #envelope: Envelope;

  constructor(transport: Transport, options: SuccessorPeerOptions) {
    const { generation = currentGeneration, ...rest } = options;
    super(transport, { ...rest, unread: "session/update" });
    this.generation = generation;
    this.#log = guardedLog(options.log);
    this.#envelope = envelopeOf(generation);
    this.successor = { port: this.portOf(this.#shape()), intake: nobody };
  }

  protected override get batches() {
    return this.isClient || this.generation.takesBatches ? "accept" : "reject";
  }

  /** Sends its kind of first message to a proxy in place of `initialize`. */
  get proxyPort(): Port {
    const { port } = this;
    return {
      notify: (call) => port.notify(call),
      request: (call, taker) =>
        port.request(call.method === "initialize" ? call.named(this.generation.initialize) : call, taker),
      unread: () => port.unread(),
    };
  }

  speaks(generation: Generation): void {
    this.generation = generation;
    this.#envelope = envelopeOf(generation);
  }

  #shape(): Shape {
    const open = () => this.#envelope.ends.head;
    return {
      method: () => this.generation.successor,
      params: ({ method, params }) => ({ method, params }),
      notificationText: (call) => `${open()}${bodyOf(call)}}}`,
      requestText: (call, id) => `${version}"id":${id},${open().slice(version.length)}${bodyOf(call)}}}`,
      unreadLines: (lines) => withEnds(lines, bare, this.#envelope.ends),
      cancel: (connection, requestId) => {
        if (!this.generation.wrapsCancel) return connection.cancel(requestId);
        const params = { method: cancelMethod, params: { requestId } };
        void connection.notify(this.generation.successor, params);
      },
    };
  }

  protected override takesUnread(lines: Lines, from: number, longest: number): number {
    const { update, ends } = this.#envelope;
    if (!update.beginsAt(lines, from)) return super.takesUnread(lines, from, longest);
    const take = this.successor.intake.unread();
    const unwrapping = take && ((found: Lines) => take(withEnds(found, ends, bare)));
    return this.passUnread(update, unwrapping, lines, from, longest);
  }

  protected override request(call: Call, request: IncomingRequest): unknown {
    const { method, params } = call;
    const old = sacpSentence(method, params);
    if (old !== undefined) throw new RequestError("method_not_found", old);
    const generation = generationOfSuccessor(method);
    if (generation === undefined) return super.request(call, request);
    const inner = this.unwrapped(call, generation);
    if (inner.method === cancelMethod)
      throw new RequestError("method_not_found", `${cancelMethod} is a notification`);
    return this.pass(inner, request, this.successor.intake);
  }

  protected override notification(call: Call): undefined {
    const { method } = call;
    const old = sacpSentence(method);
    if (old !== undefined) {
      this.#log("warn", old, { method });
      return undefined;
    }
    const generation = generationOfSuccessor(method);
    if (generation === undefined) return super.notification(call);
    const inner = this.unwrapped(call, generation);
    if (inner.method === cancelMethod) {
      const { requestId } = (inner.params ?? {}) as { readonly requestId?: unknown };
      this.connection.cancelled(requestId);
      return undefined;
    }
    this.hold(this.successor.intake.notify(inner));
  }

  /** The message in an envelope. Throws the error to answer with. */
  protected unwrapped({ method, params, paramsText }: Call, generation: Generation): Call {
    if (!isObject(params) || typeof params["method"] !== "string") {
      const path = isObject(params) ? "/method" : "";
      throw RequestError.invalidParams(`${method}: params must have the method of the wrapped message`, path);
    }
    const inner = params["method"];
    if (generationOfInitialize(inner) !== undefined) {
      this.wrappedInitialize(generation);
      const message = `${inner} must not be in an envelope: a proxy sends initialize to its successor`;
      throw new RequestError("invalid_request", message, { data: { reason: "wrapped_initialize" } });
    }
    if (generationOfSuccessor(inner) !== undefined)
      throw new RequestError("invalid_request", `${inner} must not be in an envelope of its own kind`);
    const text = paramsText === undefined ? undefined : memberText(paramsText, "params");
    return Call.within(inner, params["params"] ?? undefined, text === "null" ? undefined : text);
  }
}

/** How a message without an envelope begins and ends. */
const bare: Ends = { head: version, tail: "" };

/** The envelope of notifications. */
interface Envelope {
  readonly ends: Ends;
  readonly update: UnreadKind;
}

function envelopeOf({ successor }: Generation): Envelope {
  const head = notificationHead(successor);
  const update = notificationHead("session/update").slice(version.length);
  return { ends: { head, tail: "}" }, update: new UnreadKind(head + update, 2) };
}

function bodyOf({ method, paramsText }: Call): string {
  return `"method":${JSON.stringify(method)}${paramsText === undefined ? "" : `,"params":${paramsText}`}`;
}
