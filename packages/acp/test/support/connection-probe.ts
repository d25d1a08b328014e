// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Connects two connections back to back, or one connection and a peer whose messages the test writes.

import assert from "node:assert/strict";
import { Connection } from "../../src/jsonrpc/connection.ts";
import type { ConnectionOptions, Handlers } from "../../src/jsonrpc/connection-options.ts";
import type { EndReason, Transport } from "../../src/jsonrpc/transport.ts";
import { type MemoryPairOptions, memoryPair } from "../../src/transport/memory.ts";

type ProbeOptions = Partial<Omit<ConnectionOptions, "handlers">> & Partial<Handlers>;

export interface BarePeer {
  readonly transport: Transport;
  /** Everything that it received, parsed. */
  readonly received: unknown[];
  readonly texts: string[];
  readonly ended: Promise<EndReason>;
  send(message: unknown): boolean;
  sendText(text: string): boolean;
  /** Resolves when so many messages have been received in all. */
  until(count: number): Promise<void>;
  /** Resolves at the next `drain`. */
  drained(): Promise<void>;
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function connectionOver(transport: Transport, options: ProbeOptions = {}): Connection {
  const { request = () => null, notification = () => undefined, ...more } = options;
  return new Connection(transport, { ...more, handlers: { request, notification } });
}

/** Two connections that talk to one another. */
export function connectedPair(
  left: ProbeOptions = {},
  right: ProbeOptions = {},
  pair: MemoryPairOptions = {},
): [Connection, Connection] {
  const [a, b] = memoryPair(pair);
  return [connectionOver(a, left), connectionOver(b, right)];
}

/** A connection, and a peer that is no connection. */
export function withBarePeer(
  options: ProbeOptions = {},
  pair: MemoryPairOptions = {},
): { connection: Connection; peer: BarePeer; log: LogLine[] } {
  const [a, b] = memoryPair(pair);
  const log: LogLine[] = [];
  const connection = connectionOver(a, {
    log: (level, message, fields) => log.push({ level, message, fields }),
    ...options,
  });
  return { connection, peer: barePeer(b), log };
}

export function barePeer(transport: Transport): BarePeer {
  const received: unknown[] = [];
  const texts: string[] = [];
  const end = Promise.withResolvers<EndReason>();
  let step = Promise.withResolvers<void>();
  let drain = Promise.withResolvers<void>();
  transport.start({
    message(value, text) {
      received.push(value);
      texts.push(text);
      step.resolve();
      step = Promise.withResolvers();
    },
    idle: () => undefined,
    reject: (fault) => assert.fail(`the connection wrote something unreadable: ${fault.head}`),
    drain() {
      drain.resolve();
      drain = Promise.withResolvers();
    },
    end: (reason) => end.resolve(reason),
  });
  return {
    transport,
    received,
    texts,
    ended: end.promise,
    send: (message) => transport.send({}, JSON.stringify(message)),
    sendText: (text) => transport.send({}, text),
    async until(count) {
      while (received.length < count) await step.promise;
    },
    drained: () => drain.promise,
  };
}

/** Every microtask that is due has run: memory delivers by microtasks, so the wire is quiet afterwards. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function call(id: unknown, method = "work", params?: unknown): object {
  return { jsonrpc: "2.0", id, method, params };
}

/** The outcome of a promise as data. */
export function outcomeOf(promise: Promise<unknown>): Promise<{ value: unknown } | { error: Error }> {
  return promise.then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );
}
