// A transport to what takes a while to start. What is sent meanwhile waits.

import type { Transport } from "@parley/acp";
import type { Sink } from "@parley/acp/transport";

/** Whoever connects sends one message, and waits for its answer: that is all that can wait here. */
export function startedLater(load: () => Promise<Transport>): Transport {
  let early: Parameters<Transport["send"]>[] = [];
  let loaded: Transport | undefined;
  let loading: Promise<void> | undefined;
  let isPaused = false;
  const take = (transport: Transport, sink: Sink): void => {
    loaded = transport;
    if (isPaused) transport.pause();
    transport.start(sink);
    for (const each of early) transport.send(...each);
    early = [];
  };
  return {
    start(sink) {
      loading = load().then(
        (transport) => take(transport, sink),
        (cause: Error) => sink.end({ kind: "spawn_failed", message: cause.message, cause }),
      );
    },
    send(message, text, isLine) {
      if (loaded !== undefined) return loaded.send(message, text, isLine);
      early.push([message, text ?? JSON.stringify(message), isLine]);
      return true;
    },
    pause() {
      isPaused = true;
      loaded?.pause();
    },
    resume() {
      isPaused = false;
      loaded?.resume();
    },
    async close(reason) {
      await loading;
      await loaded?.close(reason);
    },
  };
}
