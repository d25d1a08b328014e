// An agent on the official SDK, written as its documentation does. `PARLEY_BENCH_SDK=no-await` leaves
// out the await before each notification; the suite reports the faster of the two.

import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk";
import { promptResult, workOf } from "../agent-work.ts";
import { initializeResult, sessionId } from "../messages.ts";

const awaits = process.env.PARLEY_BENCH_SDK !== "no-await";

const app = agent({ name: "bench-agent" })
  .onRequest("initialize", () => initializeResult())
  .onRequest("session/new", () => ({ sessionId }))
  .onRequest("session/set_mode", () => ({}))
  .onRequest("session/prompt", async ({ params: { prompt }, client }) => {
    const { params, count } = workOf(prompt);
    for (let i = 0; i < count; i += 1) {
      const sent = client.notify("session/update", params(i));
      if (awaits) await sent;
    }
    return promptResult();
  });

app.connect(
  // Node types its web streams apart from the DOM's; at run time they are the same classes.
  ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    { maxMessageBytes: 512 * 2 ** 20 },
  ),
);
