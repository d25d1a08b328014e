// Two peers of one version: what one says goes to the other as it is, unread. Slow readers slow their writers.

import { rpcCodes } from "../../jsonrpc/errors.ts";
import type { Log } from "../../jsonrpc/log.ts";
import type { EndReason, Sink } from "../../jsonrpc/transport.ts";
import type { Splice } from "./splice.ts";

/** Resolves when one of the two has ended and both are closed. */
export function passThrough(client: Splice, agent: Splice, log: Log): Promise<EndReason> {
  return new Promise((resolve) => {
    let over = false;
    const end = (from: Splice, to: Splice, reason: EndReason): void => {
      if (over) return;
      over = true;
      // the other one hears of it as the end of its input, after everything that was said
      const closing = [from.close(), to.close()];
      void Promise.allSettled(closing).then(() => resolve(reason));
    };
    const sinkOf = (from: Splice, to: Splice, refuse: Sink["reject"]): Sink => ({
      message(value, text) {
        // every message of a wire is an object or an array
        if (!to.send(value as object, text)) from.pause();
      },
      idle: () => undefined,
      reject: refuse,
      drain: () => to.resume(),
      end: (reason) => end(from, to, reason),
    });
    client.read(
      sinkOf(client, agent, () => {
        const error = { code: rpcCodes.parseError, message: "this is not JSON" };
        client.send({ jsonrpc: "2.0", id: null, error });
      }),
    );
    agent.read(
      sinkOf(agent, client, (fault) =>
        log("warn", "skipped what the agent printed", { head: fault.head.slice(0, 200) }),
      ),
    );
    passLines(client, agent);
  });
}

/** Where both sides write lines, nobody has to look into them. */
function passLines(client: Splice, agent: Splice): void {
  const ofClient = client.lines();
  const ofAgent = agent.lines();
  if (ofClient === undefined || ofAgent === undefined) return;
  ofClient.receive((lines) => {
    if (!ofAgent.send(lines)) client.pause();
  });
  ofAgent.receive((lines) => {
    if (!ofClient.send(lines)) agent.pause();
  });
}
