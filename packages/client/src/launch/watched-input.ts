// What an agent writes, as far as it is no message: what cannot be read is told, and a program that is no agent but
// sends back what it is sent, as cat does, shows it with its first line: nobody has to wait for the deadline to know.

import type { Sink, Transport } from "@parley/acp";

/** Something that an agent wrote and that was not read. */
export interface Unread {
  /** `noise`: it is no message. `too_large`: it is longer, or nested deeper, than anybody wants. */
  readonly why: "noise" | "too_large";
  readonly bytes: number;
  /** How it begins: up to 200 characters, as they came. */
  readonly head: string;
}

const headChars = 200;

/** Only a client sends `initialize`: an agent that does so has sent back ours. */
export function watchedInput(transport: Transport, onUnread: (unread: Unread) => void): Transport {
  let isOver = false;
  const unread = (why: Unread["why"], bytes: number, head: string) =>
    onUnread({ why, bytes, head: head.slice(0, headChars) });
  const watching = (sink: Sink): Sink => {
    const end: Sink["end"] = (reason) => {
      if (!isOver) sink.end(reason);
      isOver = true;
    };
    return {
      message(value, text) {
        if (isOver) return;
        if (isNoise(value)) unread("noise", text.length, text);
        if (!isInitialize(value)) return sink.message(value, text);
        end({ kind: "protocol", message: "it sends back what it is sent and is no agent" });
      },
      idle: () => sink.idle(),
      reject(fault) {
        const isText = fault.kind === "parse" || fault.kind === "utf8";
        unread(isText ? "noise" : "too_large", fault.bytes, fault.head);
        sink.reject(fault);
      },
      drain: () => sink.drain(),
      end,
    };
  };
  return {
    start: (sink) => transport.start(watching(sink)),
    send: (message, text) => transport.send(message, text),
    pause: () => transport.pause(),
    resume: () => transport.resume(),
    ...(transport.endOutput === undefined ? {} : { endOutput: () => transport.endOutput?.() }),
    close: (reason) => transport.close(reason),
  };
}

/** JSON without an object in it: somebody's print. */
function isNoise(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isNoise) : typeof value !== "object" || value === null;
}

function isInitialize(value: unknown): boolean {
  return typeof value === "object" && value !== null && "method" in value && value.method === "initialize";
}
