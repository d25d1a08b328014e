// Shows what passes between the components of a chain.

import type { Side } from "../../forward/frame.ts";
import type { Port } from "../../forward/port.ts";
import type { PassedAnswer } from "../../jsonrpc/passed-call.ts";

/** A message between two neighbours of a chain. */
export interface HopMessage {
  /** The neighbours, such as "budget > the agent". The one nearer to the client comes first. */
  readonly hop: string;
  /** The number of the hop, from the client: 0 for the first. */
  readonly place: number;
  /** The side that sent it. */
  readonly from: Side;
  /** The message. Each hop has its own ids. */
  readonly message: object;
}

export type WatchHops = (seen: HopMessage) => void;

/** A port that tells what passes. */
export function watched(
  port: Port,
  from: Side,
  note: (from: Side, message: object) => void,
  ids: { next: number },
): Port {
  const back = from === "client" ? "agent" : "client";
  return {
    notify(call) {
      note(from, { jsonrpc: "2.0", method: call.method, params: call.params });
      return port.notify(call);
    },
    request(call, taker) {
      const id = ids.next++;
      note(from, { jsonrpc: "2.0", id, method: call.method, params: call.params });
      return port.request(call, (answer: PassedAnswer, text) => {
        const { result, error } = answer;
        note(back, { jsonrpc: "2.0", id, ...(error === undefined ? { result } : { error }) });
        taker(answer, text);
      });
    },
    // it must be read to be shown
    unread: () => undefined,
  };
}
