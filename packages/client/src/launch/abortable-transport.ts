// A transport that a signal ends as if the agent had closed the connection.

import type { Sink, Transport } from "@parley/acp";
import { wrapTransport } from "@parley/acp/internal";

export interface AbortableTransport {
  readonly transport: Transport;
  /** Ignores the signal from now on. */
  settled(): void;
}

export function abortableTransport(transport: Transport, signal: AbortSignal): AbortableTransport {
  let sink: Sink | undefined;
  const abort = () => sink?.end({ kind: "closed", message: "given up" });
  signal.addEventListener("abort", abort, { once: true });
  return {
    transport: wrapTransport(transport, {
      start(given) {
        sink = given;
        transport.start(given);
        // it may have been aborted meanwhile; a sink is not called before this returns
        if (signal.aborted) queueMicrotask(abort);
      },
    }),
    settled: () => signal.removeEventListener("abort", abort),
  };
}
