// Wraps transports and sinks, forwarding every member that is not overridden.

import type { Sink, Transport } from "../jsonrpc/transport.ts";

/**
 * Wraps a transport and forwards every member that is not overridden. An override of `start` that looks at messages must
 * also override `lines`.
 *
 * @example
 * import { memoryPair, wrapTransport } from "@parley/acp/transport";
 *
 * const [inner] = memoryPair();
 * const logged = wrapTransport(inner, {
 *   send(message, text) {
 *     console.log(message);
 *     return inner.send(message, text);
 *   },
 * });
 */
export function wrapTransport(inner: Transport, overrides: Partial<Transport>): Transport {
  return {
    start: (sink) => inner.start(sink),
    send: (message, text, isLine) => inner.send(message, text, isLine),
    ...(inner.lines && { lines: () => inner.lines?.() }),
    pause: () => inner.pause(),
    resume: () => inner.resume(),
    ...(inner.endOutput && { endOutput: () => inner.endOutput?.() }),
    ...(inner.attachment && { attachment: inner.attachment }),
    close: (reason) => inner.close(reason),
    ...overrides,
  };
}

/**
 * Wraps a sink and forwards every member that is not overridden.
 *
 * @example
 * import { memoryPair, wrapSink, wrapTransport } from "@parley/acp/transport";
 *
 * const [inner] = memoryPair();
 * const counted = wrapTransport(inner, {
 *   start: (sink) => inner.start(wrapSink(sink, { reject: (fault) => console.error(fault.kind) })),
 * });
 */
export function wrapSink(inner: Sink, overrides: Partial<Sink>): Sink {
  return {
    message: (value, text) => inner.message(value, text),
    idle: () => inner.idle(),
    reject: (fault) => inner.reject(fault),
    drain: () => inner.drain(),
    end: (reason) => inner.end(reason),
    ...overrides,
  };
}
