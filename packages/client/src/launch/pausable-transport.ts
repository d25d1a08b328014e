// A transport that two may stop: the connection, for reasons of its own, and whoever cannot take what the agent says as
// fast as it says it. It is read while neither wants it stopped.

import type { Transport } from "@parley/acp";

export interface Pausable {
  readonly transport: Transport;
  pause(): void;
  resume(): void;
}

export function pausable(transport: Transport): Pausable {
  let byConnection = false;
  let byOwner = false;
  const settle = () => {
    if (byConnection || byOwner) transport.pause();
    else transport.resume();
  };
  return {
    transport: {
      start: (sink) => transport.start(sink),
      send: (message, text) => transport.send(message, text),
      pause() {
        byConnection = true;
        settle();
      },
      resume() {
        byConnection = false;
        settle();
      },
      ...(transport.endOutput === undefined ? {} : { endOutput: () => transport.endOutput?.() }),
      close: (reason) => transport.close(reason),
    },
    pause() {
      byOwner = true;
      settle();
    },
    resume() {
      byOwner = false;
      settle();
    },
  };
}
