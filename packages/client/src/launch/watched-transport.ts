// Wraps the transport of an agent: it can be aborted and paused, and reports output that is not a message.

import type { Transport } from "@parley/acp";
import { type Sink, wrapSink, wrapTransport } from "@parley/acp/transport";
import type { UnreadEvent } from "./launch-event.ts";

/** The signal ends it as if the agent had closed the connection, until `settled` is called. */
export function abortableTransport(transport: Transport, signal: AbortSignal | undefined) {
  let sink: Sink | undefined;
  const abort = () => sink?.end({ kind: "closed", message: "given up" });
  signal?.addEventListener("abort", abort, { once: true });
  return {
    transport: wrapTransport(transport, {
      start(given) {
        sink = given;
        transport.start(given);
        // it may have been aborted meanwhile; a sink is not called before this returns
        if (signal?.aborted) queueMicrotask(abort);
      },
    }),
    settled: () => signal?.removeEventListener("abort", abort),
  };
}

/** It is read while neither its connection nor its owner has paused it. */
export function pausableTransport(inner: Transport) {
  const pausedBy = new Set<"connection" | "owner">();
  const control = (who: "connection" | "owner") => ({
    pause() {
      pausedBy.add(who);
      inner.pause();
    },
    resume() {
      pausedBy.delete(who);
      if (pausedBy.size === 0) inner.resume();
    },
  });
  return { transport: wrapTransport(inner, control("connection")), ...control("owner") };
}

const headChars = 200;

/** A line of stdout that is no message. */
export function noiseEvent(line: string): UnreadEvent {
  return { kind: "unread", why: "noise", bytes: line.length, head: line.slice(0, headChars) };
}

/** Only a client sends `initialize`: a program that does so has echoed ours. */
export function watchedInput(transport: Transport, onUnread: (event: UnreadEvent) => void): Transport {
  let isOver = false;
  const unread = (why: UnreadEvent["why"], bytes: number, head: string) =>
    onUnread({ kind: "unread", why, bytes, head: head.slice(0, headChars) });
  const watching = (sink: Sink): Sink => {
    const end: Sink["end"] = (reason) => {
      if (!isOver) sink.end(reason);
      isOver = true;
    };
    return wrapSink(sink, {
      message(value, text) {
        if (isOver) return;
        if (isNoise(value)) unread("noise", text.length, text);
        if (!isInitialize(value)) return sink.message(value, text);
        end({ kind: "protocol", message: "it only echoes its input and is not an agent" });
      },
      reject(fault) {
        const isText = fault.kind === "parse" || fault.kind === "utf8";
        unread(isText ? "noise" : "too_large", fault.bytes, fault.head);
        sink.reject(fault);
      },
      end,
    });
  };
  return wrapTransport(transport, { start: (sink) => transport.start(watching(sink)) });
}

/** JSON without an object in it comes from a print. */
function isNoise(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isNoise) : typeof value !== "object" || value === null;
}

function isInitialize(value: unknown): boolean {
  return typeof value === "object" && value !== null && "method" in value && value.method === "initialize";
}
