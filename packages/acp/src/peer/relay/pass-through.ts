// Passes messages between two peers of one version, which nobody reads.

import { type Deadline, deadline } from "../../base/deadline.ts";
import { Peer } from "../../forward/peer.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import type { EndReason } from "../../jsonrpc/transport.ts";
import { noticed } from "../../transport/wrap-transport.ts";
import type { ReadInTurns } from "./read-in-turns.ts";

/** How long an agent may be silent after the client's end of input before it is closed. */
const farewellMs = 3_000;

/** Resolves when one of the two has ended and both are closed. */
export async function passThrough(client: ReadInTurns, agent: ReadInTurns, log: Log): Promise<EndReason> {
  let left: EndReason | undefined;
  let farewell: Deadline;
  const over = Promise.withResolvers<EndReason>();
  const wait = (): void => {
    clearTimeout(farewell);
    farewell = deadline(farewellMs, () => over.resolve(left ?? { kind: "eof" }));
  };
  const toClient = client.transport();
  const ofClient = new Peer(
    noticed(toClient, () => {
      if (left !== undefined) wait();
    }),
    { name: "the client", lingers: true, log },
  );
  const ofAgent = new Peer(agent.transport(), {
    name: "the agent",
    noise: "skip",
    unread: "session/update",
    log,
  });
  ofClient.intake = ofAgent.port;
  ofAgent.intake = ofClient.port;
  void client.ended.then((reason) => {
    left = reason;
    if (reason.kind !== "eof") return over.resolve(reason);
    // what the agent still sends is passed on
    agent.endOutput();
    wait();
  });
  void agent.ended.then((reason) => over.resolve(left ?? reason));
  const reason = await over.promise;
  await Promise.allSettled([ofClient.close(), ofAgent.close()]);
  clearTimeout(farewell);
  await Promise.allSettled([client.close(), agent.close()]);
  return reason;
}
