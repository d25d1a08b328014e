// A program that is no agent but sends back what it is sent, as cat does, shows it with its first line: nobody has to
// wait for the deadline to know.

import type { Sink, Transport } from "@parley/acp";

/** Only a client sends `initialize`: an agent that does so has sent back ours. */
export function noticingEcho(transport: Transport): Transport {
  let isOver = false;
  const watching = (sink: Sink): Sink => {
    const end: Sink["end"] = (reason) => {
      if (!isOver) sink.end(reason);
      isOver = true;
    };
    return {
      message(value, text) {
        if (isOver) return;
        if (!isInitialize(value)) return sink.message(value, text);
        end({ kind: "protocol", message: "it sends back what it is sent and is no agent" });
      },
      idle: () => sink.idle(),
      reject: (fault) => sink.reject(fault),
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

function isInitialize(value: unknown): boolean {
  return typeof value === "object" && value !== null && "method" in value && value.method === "initialize";
}
