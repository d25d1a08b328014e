// A transport that a signal ends as if the peer had gone: whoever waits for an answer is told at once.

import type { Sink, Transport } from "@parley/acp";

export function abortable(
  transport: Transport,
  signal: AbortSignal,
): {
  readonly transport: Transport /** From now on the signal counts no more. */;
  readonly settled: () => void;
} {
  let sink: Sink | undefined;
  const abort = () => sink?.end({ kind: "closed", message: "given up" });
  signal.addEventListener("abort", abort, { once: true });
  return {
    transport: {
      start(given) {
        sink = given;
        transport.start(given);
        // it may have been aborted meanwhile; a sink is not called before this returns
        if (signal.aborted) queueMicrotask(abort);
      },
      send: (message, text) => transport.send(message, text),
      pause: () => transport.pause(),
      resume: () => transport.resume(),
      close: (reason) => transport.close(reason),
    },
    settled: () => signal.removeEventListener("abort", abort),
  };
}
