// Wraps transports and sinks, forwarding every member that is not overridden.

import type { Sink, Transport } from "../jsonrpc/transport.ts";

/** Optional members are there when the inner transport has them. An override of `start` that looks at messages must also override `lines`. */
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
