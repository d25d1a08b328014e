// The task of examples/custom-transport.ts with the official SDK.

import { randomUUID } from "node:crypto";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import * as acp from "@agentclientprotocol/sdk";

function portStream(port: MessagePort): acp.Stream {
  return {
    readable: new ReadableStream({
      start(controller) {
        port.on("message", (message) => controller.enqueue(message)).on("close", () => controller.close());
      },
      cancel: () => port.removeAllListeners().close(),
    }),
    writable: new WritableStream({
      write: (message) => port.postMessage(message),
      close: () => port.close(),
      abort: () => port.close(),
    }),
  };
}

const sessions = new Set<string>();

const echo = acp
  .agent({ name: "echo" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "echo", version: "1.0.0" },
  }))
  .onRequest(acp.methods.agent.session.new, () => {
    const sessionId = randomUUID();
    sessions.add(sessionId);
    return { sessionId };
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    if (!sessions.has(sessionId)) throw acp.RequestError.sessionNotFound(sessionId);
    for (const content of prompt) {
      await client.notify(acp.methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content },
      });
    }
    return { stopReason: "end_turn" };
  });

const { port1, port2 } = new MessageChannel();
echo.connect(portStream(port1));
await acp.client({ name: "example-client" }).connectWith(portStream(port2), async (ctx) => {
  await ctx.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientInfo: { name: "example-client", version: "1.0.0" },
  });
  await ctx.buildSession("/project").withSession(async (session) => {
    await session.prompt("Over a port.");
    console.log(await session.readText());
  });
});

// prints:
// Over a port.
