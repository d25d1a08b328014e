// A peer that writes and reads JSON-RPC messages by hand, on one end of a pair of transports.

import assert from "node:assert/strict";
import type { Transport } from "../../src/jsonrpc/transport.ts";

/** A message as it is on the wire. */
export interface Wire {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface RawLinePeer {
  /** Everything that came. */
  readonly got: Wire[];
  readonly texts: string[];
  /** Resolves when the transport has ended. */
  readonly ended: Promise<void>;
  send(message: object): void;
  sendText(text: string): void;
  request(id: number | string, method: string, params?: object): void;
  notify(method: string, params?: object): void;
  answer(to: Wire, result: unknown): void;
  /** The first message from now on, or not taken before, that fits. */
  next(fits: (message: Wire) => boolean): Promise<Wire>;
  asked(method: string): Promise<Wire>;
  answered(id: number | string): Promise<Wire>;
  close(): Promise<void>;
}

/** `serve` is called for each message before anybody can wait for it. */
export function rawLinePeer(
  transport: Transport,
  serve: (message: Wire, peer: RawLinePeer) => void = () => undefined,
): RawLinePeer {
  const waiting: { fits: (message: Wire) => boolean; done: (message: Wire) => void }[] = [];
  const untaken: Wire[] = [];
  const ended = Promise.withResolvers<void>();
  let isOver = false;
  const peer: RawLinePeer = {
    got: [],
    texts: [],
    ended: ended.promise,
    send: (message) => void transport.send(message, JSON.stringify(message)),
    sendText: (text) => void transport.send(JSON.parse(text) as object, text),
    request: (id, method, params) => peer.send({ jsonrpc: "2.0", id, method, params }),
    notify: (method, params) => peer.send({ jsonrpc: "2.0", method, params }),
    answer: ({ id }, result) => peer.send({ jsonrpc: "2.0", id, result }),
    next(fits) {
      const at = untaken.findIndex(fits);
      if (at !== -1) return Promise.resolve(untaken.splice(at, 1)[0] as Wire);
      assert.ok(!isOver, `the transport has ended; it sent ${JSON.stringify(peer.got)}`);
      return new Promise((done) => waiting.push({ fits, done }));
    },
    asked: (method) => peer.next((message) => message.method === method),
    answered: (id) => peer.next((message) => message.id === id && message.method === undefined),
    close: () => transport.close(),
  };
  transport.start({
    message(value, text) {
      const message = value as Wire;
      peer.got.push(message);
      peer.texts.push(text);
      serve(message, peer);
      const at = waiting.findIndex(({ fits }) => fits(message));
      if (at === -1) untaken.push(message);
      else waiting.splice(at, 1)[0]?.done(message);
    },
    idle: () => undefined,
    reject: (fault) => peer.got.push({ error: { code: 0, message: fault.kind } }),
    drain: () => undefined,
    end() {
      isOver = true;
      ended.resolve();
    },
  });
  return peer;
}
