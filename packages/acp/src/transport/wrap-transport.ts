// Wraps transports and sinks, forwarding every member that is not overridden.

import type { Sink, Transport } from "../jsonrpc/transport.ts";

/**
 * Wraps a transport and forwards every member that is not overridden. An override of `send` gets every message whole. An override of
 * `start` that looks at messages must give the inner transport a sink without `unread`, as `wrapSink` does.
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
    send: (message, text) => inner.send(message, text),
    pause: () => inner.pause(),
    resume: () => inner.resume(),
    ...(inner.endOutput && { endOutput: () => inner.endOutput?.() }),
    ...(inner.attachment && { attachment: inner.attachment }),
    ...(inner.sendLines &&
      overrides.send === undefined && { sendLines: (lines) => inner.sendLines?.(lines) ?? true }),
    close: (reason) => inner.close(reason),
    ...overrides,
  };
}

/** Calls `sends` before each time that the transport sends. */
export function noticed(inner: Transport, sends: () => void): Transport {
  return wrapTransport(inner, {
    send(message, text) {
      sends();
      return inner.send(message, text);
    },
    ...(inner.sendLines && {
      sendLines(lines) {
        sends();
        return inner.sendLines?.(lines) ?? true;
      },
    }),
  });
}

/**
 * Wraps a sink and forwards every member that is not overridden. An override of `message` gets every message: then there is
 * no `unread`.
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
    ...(inner.unread &&
      overrides.message === undefined && {
        unread: (lines, from, longest) => inner.unread?.(lines, from, longest) ?? from,
      }),
    idle: () => inner.idle(),
    reject: (fault) => inner.reject(fault),
    drain: () => inner.drain(),
    end: (reason) => inner.end(reason),
    ...overrides,
  };
}
